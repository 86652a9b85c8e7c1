#include "record/collector/types.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "record/collector/program_image.hpp"

namespace linebounce::record {
namespace {

constexpr std::int64_t kMostElements = 64;
constexpr std::size_t kMostFields = 256;

bool type_entry(Dwarf_Die& die, Dwarf_Die& type) {
  Dwarf_Attribute attribute;
  return dwarf_formref_die(dwarf_attr_integrate(&die, DW_AT_type, &attribute), &type) != nullptr;
}

// Removes typedefs and qualifiers. The first typedef's name is kept for structures without one.
bool peel(Dwarf_Die& type, std::string& alias) {
  for (;;) {
    switch (dwarf_tag(&type)) {
      case DW_TAG_typedef:
        if (alias.empty()) alias = name_of(type);
        [[fallthrough]];
      case DW_TAG_const_type:
      case DW_TAG_volatile_type:
      case DW_TAG_restrict_type:
      case DW_TAG_atomic_type: {
        Dwarf_Die next;
        if (!type_entry(type, next)) return false;
        type = next;
        break;
      }
      default: return true;
    }
  }
}

bool is_structure(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool unsigned_attribute(Dwarf_Die& die, unsigned name, Dwarf_Word& value) {
  Dwarf_Attribute attribute;
  return dwarf_formudata(dwarf_attr_integrate(&die, name, &attribute), &value) == 0;
}

// The offset of a member; for a bit field, that of its first bit.
std::int64_t member_offset(Dwarf_Die& member) {
  Dwarf_Word value = 0;
  if (unsigned_attribute(member, DW_AT_data_bit_offset, value)) return static_cast<std::int64_t>(value / 8);
  unsigned_attribute(member, DW_AT_data_member_location, value);
  return static_cast<std::int64_t>(value);
}

// "~Node() = default;"
bool is_defaulted(Dwarf_Die& function) {
  Dwarf_Word value = DW_DEFAULTED_no;
  unsigned_attribute(function, DW_AT_defaulted, value);
  return value == DW_DEFAULTED_in_class;
}

int natural_alignment(std::int64_t bytes) {
  return bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16 ? static_cast<int>(bytes) : 1;
}

class FieldList {
 public:
  FieldList(bool nested, FieldsFor use) : nested_(nested), use_(use) {}

  // Returns false if there are too many.
  bool add(const Type& type, const std::string& name, std::int64_t offset) {
    if (fields_.size() > kMostFields) return false;
    if (type.has_members() && (nested_ || name.empty())) return add_members(type, name, offset);
    const bool is_text = use_ == FieldsFor::layout && type.element != nullptr && type.element->bytes == 1;
    if (type.element != nullptr && !is_text && type.elements <= kMostElements && (nested_ || name.empty())) {
      return add_elements(type, name, offset);
    }
    const bool is_empty_base = name.empty();
    const bool overlaps = !fields_.empty() && offset < fields_.back().offset + fields_.back().size;  // bit fields
    if (!overlaps && !is_empty_base && type.bytes > 0) fields_.push_back({.name = name, .offset = offset, .size = type.bytes});
    return true;
  }

  std::vector<trace::Field> take() { return std::move(fields_); }

 private:
  bool add_members(const Type& type, const std::string& name, std::int64_t offset) {
    // A type that only wraps one member, such as std::mutex and std::atomic, has no useful name.
    const bool wraps = !name.empty() && type.members.size() == 1;
    for (const Type::Member& member : type.members) {
      if (member.type == nullptr) continue;
      std::string inner = name;
      if (use_ == FieldsFor::layout && member.name.empty() && member.type->is_union) {
        if (!add_largest(*member.type, name, offset + member.offset)) return false;
        continue;
      }
      if (!wraps && !member.name.empty()) inner += (name.empty() ? "" : ".") + member.name;
      if (!add(*member.type, inner, offset + member.offset)) return false;
    }
    return true;
  }

  bool add_largest(const Type& of_union, const std::string& name, std::int64_t offset) {
    const auto bytes = [](const Type::Member& member) { return member.type->bytes; };
    if (of_union.members.empty()) return true;
    const Type::Member& largest = *std::ranges::max_element(of_union.members, {}, bytes);
    const std::string before = name.empty() || largest.name.empty() ? name : name + ".";
    return add(*largest.type, before + largest.name, offset + largest.offset);
  }

  bool add_elements(const Type& type, const std::string& name, std::int64_t offset) {
    for (std::int64_t i = 0; i < type.elements; ++i) {
      if (!add(*type.element, fmt::format("{}[{}]", name, i), offset + i * type.element->bytes)) return false;
    }
    return true;
  }

  bool nested_;
  FieldsFor use_;
  std::vector<trace::Field> fields_;
};

}  // namespace

std::string declared_at(Dwarf_Die& die) {
  const char* file = dwarf_decl_file(&die);
  int line = 0;
  if (file == nullptr || dwarf_decl_line(&die, &line) != 0 || line == 0) return "";
  Dwarf_Die unit;
  const bool has_unit = dwarf_diecu(&die, &unit, nullptr, nullptr) != nullptr;
  return fmt::format("{}:{}", has_unit ? whole_path(unit, file) : file, line);
}

std::vector<trace::Field> fields_of(const Type& type, FieldsFor use) {
  if (!type.has_members() && (type.element == nullptr || type.elements > kMostElements)) return {};
  FieldList all(true, use);
  if (all.add(type, "", 0)) return all.take();
  FieldList outer(false, use);
  return outer.add(type, "", 0) ? outer.take() : std::vector<trace::Field>{};
}

namespace {

// Chooses the most informative of several members at the offset. Empty base classes are useless, and in a union a member may be
// only padding to the size of a line.
const Type::Member* member_at(const Type& type, std::int64_t offset) {
  const Type::Member* found = nullptr;
  for (const Type::Member& member : type.members) {
    const bool is_there = member.type != nullptr && offset >= member.offset && offset < member.offset + member.type->bytes;
    if (!is_there) continue;
    if (!member.type->members.empty()) return &member;
    if (found == nullptr || (member.type->element != nullptr && !type.is_union)) found = &member;
  }
  return found;
}

}  // namespace

std::string path_in(const Type& type, std::int64_t offset) {
  const std::string rest = offset == 0 ? "" : fmt::format("+{}", offset);
  if (type.element != nullptr && type.element->bytes > 0) {
    return fmt::format("[{}]", offset / type.element->bytes) + path_in(*type.element, offset % type.element->bytes);
  }
  const Type::Member* member = member_at(type, offset);
  if (member == nullptr || member->name.starts_with("__")) return rest;
  const bool is_told = !member->name.empty() && !member->name.starts_with("_M_");
  return (is_told ? "." + member->name : "") + path_in(*member->type, offset - member->offset);
}

const Type* Types::of(Dwarf_Die& die) {
  Dwarf_Die type;
  return type_entry(die, type) ? read(type) : nullptr;
}

const Type* Types::reached(const Dwarf_Die& variable, const std::vector<std::string>& steps) {
  Dwarf_Die at = variable;  // the current entry; each entry on the way has a type
  const auto type_there = [&at](Dwarf_Die& type) {
    std::string alias;
    return type_entry(at, type) && peel(type, alias);
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
    const Type* structure = read(type);
    if (structure == nullptr) return nullptr;
    const auto member = std::ranges::find_if(structure->members, [&step](const Type::Member& one) { return one.name == step; });
    if (member == structure->members.end()) return nullptr;
    at = member->entry;
  }
  return of(at);
}

const Type* Types::read(Dwarf_Die& entry) {
  Dwarf_Die die = entry;
  std::string alias;
  if (!peel(die, alias)) return nullptr;
  if (dwarf_hasattr(&die, DW_AT_declaration)) {
    const auto complete = structures_.find(name_of(die));
    return complete == structures_.end() ? nullptr : read(complete->second);
  }
  const auto [place, is_new] = types_.try_emplace(die.addr, nullptr);
  if (!is_new) return place->second.get();  // nullptr only for a structure that contains itself, which is illegal
  auto type = std::make_unique<Type>();
  type->name = name_of(die);
  if (type->name.empty()) type->name = alias;
  Dwarf_Word bytes = 0;
  if (dwarf_aggregate_size(&die, &bytes) == 0) type->bytes = static_cast<std::int64_t>(bytes);
  const int tag = dwarf_tag(&die);
  if (is_structure(tag)) {
    read_structure(die, *type);
  } else if (tag == DW_TAG_array_type) {
    read_array(die, *type);
  } else {
    type->alignment = natural_alignment(type->bytes);
  }
  auto& kept = types_[die.addr];
  kept = std::move(type);
  return kept.get();
}

void Types::read_structure(Dwarf_Die& die, Type& type) {
  type.is_union = dwarf_tag(&die) == DW_TAG_union_type;
  type.source = declared_at(die);
  Dwarf_Die child;
  if (dwarf_child(&die, &child) == 0) {
    do {
      const int tag = dwarf_tag(&child);
      if (tag == DW_TAG_subprogram && name_of(child).starts_with('~')) type.has_destructor |= !is_defaulted(child);
      if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&child, DW_AT_declaration)) continue;
      if (dwarf_hasattr(&child, DW_AT_external)) continue;  // a static member
      const Type* of_member = of(child);
      if (of_member == nullptr || of_member->bytes == 0) continue;
      type.alignment = std::max(type.alignment, of_member->alignment);
      type.has_destructor |= of_member->has_destructor;
      type.members.push_back({.name = tag == DW_TAG_member ? name_of(child) : "",
                              .offset = member_offset(child),
                              .type = of_member,
                              .entry = child});
    } while (dwarf_siblingof(&child, &child) == 0);
  }
  Dwarf_Word alignment = 0;
  if (unsigned_attribute(die, DW_AT_alignment, alignment)) type.alignment = static_cast<int>(alignment);
  std::ranges::stable_sort(type.members, [](const Type::Member& a, const Type::Member& b) { return a.offset < b.offset; });
}

// Merges the dimensions of an array: m[2][3] has 6 elements.
void Types::read_array(Dwarf_Die& die, Type& type) {
  type.element = of(die);
  if (type.element == nullptr || type.element->bytes == 0) return;
  type.alignment = type.element->alignment;
  type.has_destructor = type.element->has_destructor;
  type.elements = type.bytes / type.element->bytes;
}

const Type* Types::named(const std::string& name) {
  for (auto* const names : {&structures_, &other_names_}) {
    if (const auto found = names->find(name); found != names->end()) return read(found->second);
  }
  return nullptr;
}

std::vector<std::string> Types::structure_names() const {
  std::vector<std::string> names;
  for (const auto& [name, die] : structures_) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

const Type* Types::qualified(const std::string& name) {
  const auto found = qualified_.find(name);
  return found == qualified_.end() ? nullptr : read(found->second);
}

std::vector<std::string> Types::qualified_names(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [qualified, die] : qualified_) {
    if (qualified == name || qualified.ends_with("::" + name)) names.push_back(qualified);
  }
  std::ranges::sort(names);
  return names;
}

void Types::note_types_of(Dwarf_Die& scope, const std::string& before) {
  Dwarf_Die child;
  if (dwarf_child(&scope, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    const std::string name = name_of(child);
    const std::string inside = fmt::format("{}{}::", before, name.empty() ? "(anonymous)" : name);
    if (tag == DW_TAG_namespace) note_types_of(child, inside);
    const bool is_complete = is_structure(tag) && !dwarf_hasattr(&child, DW_AT_declaration);
    if (!is_complete && tag != DW_TAG_typedef && tag != DW_TAG_base_type) continue;
    if (!name.empty()) (is_complete ? structures_ : other_names_).try_emplace(name, child);
    if (!name.empty() && is_complete) qualified_.try_emplace(before + name, child);
    if (is_complete) note_types_of(child, inside);  // nested classes
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace linebounce::record
