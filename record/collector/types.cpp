#include "record/collector/types.hpp"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include "record/collector/debug_entries.hpp"
#include "record/collector/program_image.hpp"
#include "record/collector/type_reader.hpp"
#include "types/type_fields.hpp"

namespace linebounce::record {
namespace {

constexpr int kDeepestType = 128;   // of types within types; real ones stay far below
constexpr int kDeepestScope = 128;  // of scopes within scopes

// "Job" of "ns::Job", "Twin" of "second::Box<a::b>::Twin".
std::string last_name(const std::string& qualified) {
  int depth = 0;
  for (std::size_t i = qualified.size(); i-- > 1;) {
    if (qualified[i] == '>') ++depth;
    if (qualified[i] == '<') --depth;
    if (depth == 0 && qualified[i] == ':' && qualified[i - 1] == ':') return qualified.substr(i + 1);
  }
  return qualified;
}

bool has_variant_part(Dwarf_Die& structure) {
  Dwarf_Die child;
  if (dwarf_child(&structure, &child) != 0) return false;
  do {
    if (dwarf_tag(&child) == DW_TAG_variant_part) return true;
  } while (next_sibling(child));
  return false;
}

// A function of C or C++ that returns a value, although its type is not told. In other languages, main() returns nothing.
bool is_untyped(Dwarf_Die& main) {
  constexpr std::array kLanguages = {DW_LANG_C89,
                                     DW_LANG_C,
                                     DW_LANG_C99,
                                     DW_LANG_C11,
                                     DW_LANG_C_plus_plus,
                                     DW_LANG_C_plus_plus_03,
                                     DW_LANG_C_plus_plus_11,
                                     DW_LANG_C_plus_plus_14};
  Dwarf_Die unit;
  if (dwarf_diecu(&main, &unit, nullptr, nullptr) == nullptr) return false;
  const bool is_c = std::ranges::find(kLanguages, dwarf_srclang(&unit)) != kLanguages.end();
  return is_c && dwarf_hasattr_integrate(&main, DW_AT_type) == 0;
}

std::string split_file_of(Dwarf_Die& unit) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_dwo_name, DW_AT_GNU_dwo_name}) {
    const char* file = dwarf_formstring(dwarf_attr(&unit, name, &attribute));
    if (file != nullptr) return whole_path(unit, file);
  }
  return "";
}

// "Debian clang version 14.0.6" or "clang LLVM (rustc version 1.95.0)".
bool is_by_llvm(Dwarf_Die& unit) {
  Dwarf_Attribute attribute;
  const char* producer = dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attribute));
  return producer != nullptr && std::string_view(producer).find("clang") != std::string_view::npos;
}

bool is_same_layout(const Type& one, const Type& other) {
  constexpr auto kUse = types::FieldsFor::layout;
  return one.size == other.size && types::fields_of(one, kUse) == types::fields_of(other, kUse);
}

}  // namespace

void Types::note_types_of(Dwarf* information, Elf* program) {
  if (information == nullptr || !virtual_bases_.try_emplace(information, nullptr).second) return;
  const auto bases = std::make_shared<VirtualBases>(program, dwarf_getelf(information));
  virtual_bases_[information] = bases;
  note_units_of(information, bases);
  // `dwz -m` moves types that several programs share into a separate file.
  const char* common_file = nullptr;
  const void* build_id = nullptr;
  if (Dwarf* common = dwarf_getalt(information); common != nullptr) {
    if (virtual_bases_.try_emplace(common, bases).second) note_units_of(common, bases);
  } else if (dwelf_dwarf_gnu_debugaltlink(information, &common_file, &build_id) > 0) {
    missing_files_.emplace_back(common_file);
  }
}

void Types::note_units_of(Dwarf* information, const std::shared_ptr<VirtualBases>& bases) {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die entry, split;
  Dwarf_Half version = 0;
  std::uint8_t kind = 0;
  while (dwarf_get_units(information, unit, &unit, &version, &kind, &entry, &split) == 0) {
    const bool is_split = kind == DW_UT_skeleton && split.addr != nullptr;  // of a type unit, it is the type
    if (kind == DW_UT_skeleton && !is_split) missing_files_.push_back(split_file_of(entry));
    has_code_of_llvm_ |= is_by_llvm(is_split ? split : entry);
    if (is_split) virtual_bases_[dwarf_cu_getdwarf(split.cu)] = bases;
    last_noted_ = nullptr;
    note_types_in(is_split ? split : entry, "", 0);
  }
}

void Types::note_types_in(Dwarf_Die& scope, const std::string& before, int depth) {
  Dwarf_Die child;
  if (depth > kDeepestScope || dwarf_child(&scope, &child) != 0) return;
  do {
    // A sibling within an entry that has been read is of damaged information, and would multiply the entries.
    if (!std::less<>()(last_noted_, child.addr)) return;
    last_noted_ = child.addr;
    switch (dwarf_tag(&child)) {
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_subprogram: {
        const std::string name = name_of(child);
        if (name == "main" && depth == 0) are_left_out_ |= is_untyped(child);
        note_types_in(child, name.empty() ? before : before + name + "::", depth + 1);
        break;
      }
      case DW_TAG_lexical_block: note_types_in(child, before, depth + 1); break;
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_typedef:
      case DW_TAG_base_type: note_type(child, before, depth); break;
      default: break;
    }
  } while (next_sibling(child));
}

void Types::note_type(Dwarf_Die& die, const std::string& before, int depth) {
  std::string scope = before;
  Dwarf_Die declaration;
  // A class that is declared inside another and defined outside.
  if (entry_of(die, DW_AT_specification, declaration)) {
    if (const auto declared = scopes_.find(declaration.addr); declared != scopes_.end()) scope = declared->second;
  }
  const std::string name = name_of(die);
  if (!scope.empty()) scopes_.try_emplace(die.addr, scope);
  if (!is_structure(dwarf_tag(&die))) {
    if (!name.empty()) other_names_.try_emplace(scope + name, die);
    return;
  }
  const std::string inside = name.empty() ? scope : scope + name + "::";
  if (!name.empty() && !dwarf_hasattr(&die, DW_AT_declaration)) {
    std::vector<Dwarf_Die>& same = structures_[scope + name];
    if (same.empty()) by_last_name_[last_name(name)].push_back(scope + name);
    same.push_back(die);
  }
  if (has_variant_part(die)) {
    Dwarf_Die child;
    if (dwarf_child(&die, &child) == 0) {
      do {
        if (is_structure(dwarf_tag(&child))) variants_.insert(child.addr);
      } while (next_sibling(child));
    }
  }
  note_types_in(die, inside, depth + 1);
}

std::string Types::qualified_name(Dwarf_Die& die) const {
  const std::string name = name_of(die);
  const auto scope = scopes_.find(die.addr);
  return name.empty() || scope == scopes_.end() ? name : scope->second + name;
}

bool Types::complete(Dwarf_Die& die) const {
  if (Dwarf_Die unit_type; entry_of(die, DW_AT_signature, unit_type)) die = unit_type;
  // An enum that is declared with its type has a size.
  if (!dwarf_hasattr(&die, DW_AT_declaration) || dwarf_hasattr(&die, DW_AT_byte_size)) return true;
  const auto found = structures_.find(qualified_name(die));
  if (found == structures_.end()) return false;
  std::vector<Dwarf_Die> definitions;
  const auto is_in_unit = [&die](const Dwarf_Die& one) { return one.cu == die.cu; };
  std::ranges::copy_if(found->second, std::back_inserter(definitions), is_in_unit);
  if (definitions.empty()) definitions = found->second;
  const auto bytes = constant_of(definitions.front(), DW_AT_byte_size);
  const auto differs = [&bytes](Dwarf_Die one) { return constant_of(one, DW_AT_byte_size) != bytes; };
  if (std::ranges::any_of(definitions, differs)) return false;
  die = definitions.front();
  return true;
}

VirtualBases& Types::virtual_bases_of(Dwarf_Die& die) {
  std::shared_ptr<VirtualBases>& bases = virtual_bases_[dwarf_cu_getdwarf(die.cu)];
  if (bases == nullptr) bases = std::make_shared<VirtualBases>(nullptr, nullptr);
  return *bases;
}

TypePtr Types::shared_of(Dwarf_Die& die) {
  Dwarf_Die type;
  return type_entry(die, type) ? read(type) : nullptr;
}

TypePtr Types::read(const Dwarf_Die& entry) {
  auto found = peeled(entry);
  if (!found || !complete(found->entry) || depth_ == kDeepestType) return nullptr;
  Dwarf_Die& die = found->entry;
  const auto [place, is_new] = types_.try_emplace(die.addr, nullptr);
  if (!is_new) return place->second;  // nullptr only for a structure that contains itself, which is illegal
  const std::string alias = found->alias.addr == nullptr ? "" : qualified_name(found->alias);
  ++depth_;
  TypePtr type = described_type(die, alias, *this);
  --depth_;
  return types_[die.addr] = std::move(type);
}

const Type* Types::reached(const Dwarf_Die& variable, const std::vector<std::string>& steps) {
  Dwarf_Die at = variable;  // the current entry; each entry on the way has a type
  const auto type_there = [&at](Dwarf_Die& type) {
    Dwarf_Die next;
    const auto found = type_entry(at, next) ? peeled(next) : std::nullopt;
    if (found) type = found->entry;
    return found.has_value();
  };
  Dwarf_Die type;
  for (const std::string& step : steps) {
    if (!type_there(type)) return nullptr;
    const bool is_pointer = dwarf_tag(&type) == DW_TAG_pointer_type;
    if (step == kElement) {
      if (!is_pointer && dwarf_tag(&type) != DW_TAG_array_type) return nullptr;
      at = type;
      continue;
    }
    if (is_pointer) at = type;
    if (is_pointer && !type_there(type)) return nullptr;
    if (!is_structure(dwarf_tag(&type)) || !complete(type) || !find_member(type, step, at)) return nullptr;
  }
  return of(at);
}

const std::string* Types::only_name(const std::string& name) const {
  const auto found = by_last_name_.find(last_name(name));
  if (found == by_last_name_.end()) return nullptr;
  const std::string* only = nullptr;
  for (const std::string& qualified : found->second) {
    if (qualified != name && !qualified.ends_with("::" + name)) continue;
    if (only != nullptr) return nullptr;
    only = &qualified;
  }
  return only;
}

const Type* Types::exactly(const std::string& name) {
  if (const auto found = structures_.find(name); found != structures_.end()) return read(found->second.front()).get();
  const auto other = other_names_.find(name);
  return other == other_names_.end() ? nullptr : read(other->second).get();
}

const Type* Types::named(const std::string& name, const std::string& function) {
  for (std::size_t end = function.rfind("::"); end != function.npos && end > 0; end = function.rfind("::", end - 1)) {
    if (const Type* type = exactly(function.substr(0, end + 2) + name)) return type;
  }
  if (const Type* type = exactly(function.empty() ? name : function + "::" + name)) return type;
  if (const Type* type = exactly(name)) return type;
  const std::string* only = only_name(name);
  return only == nullptr ? nullptr : exactly(*only);
}

std::vector<const Type*> Types::qualified(const std::string& name) {
  std::vector<const Type*> all;
  const auto add = [&all](const Type* type) {
    if (type == nullptr || std::ranges::any_of(all, [type](const Type* one) { return is_same_layout(*one, *type); })) return;
    all.push_back(type);
  };
  if (const auto found = structures_.find(name); found != structures_.end()) {
    for (const Dwarf_Die& die : found->second) add(read(die).get());
  } else if (const auto other = other_names_.find(name); other != other_names_.end()) {
    add(read(other->second).get());
  }
  return all;
}

std::vector<std::string> Types::qualified_names(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [qualified, entries] : structures_) {
    if (name.empty() || qualified == name || qualified.ends_with("::" + name)) names.push_back(qualified);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace linebounce::record
