#include "record/collector/debug_entries.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "record/collector/program_image.hpp"

namespace linebounce::record {
namespace {

constexpr int kMostTypedefs = 256;  // of typedefs
constexpr std::int64_t kLargestConstant = std::int64_t{1} << 40;

}  // namespace

std::string declared_at(Dwarf_Die& die) {
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  // dwarf_decl_file() aborts in a unit without files, as a split one is.
  const bool has_files =
      dwarf_diecu(&die, &unit, nullptr, nullptr) != nullptr && dwarf_getsrcfiles(&unit, &files, nullptr) == 0;
  const char* file = has_files ? dwarf_decl_file(&die) : nullptr;
  int line = 0;
  if (file == nullptr || dwarf_decl_line(&die, &line) != 0 || line == 0) return "";
  return fmt::format("{}:{}", whole_path(unit, file), line);
}

bool type_entry(Dwarf_Die& die, Dwarf_Die& type) {
  Dwarf_Attribute attribute;
  return dwarf_formref_die(dwarf_attr_integrate(&die, DW_AT_type, &attribute), &type) != nullptr;
}

bool entry_of(Dwarf_Die& die, unsigned attribute, Dwarf_Die& other) {
  Dwarf_Attribute found;
  return dwarf_formref_die(dwarf_attr(&die, attribute, &found), &other) != nullptr;
}

bool next_sibling(Dwarf_Die& entry) {
  const void* const before = entry.addr;
  return dwarf_siblingof(&entry, &entry) == 0 && std::less<>()(before, entry.addr);
}

std::optional<std::int64_t> constant_of(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute found;
  if (dwarf_attr_integrate(&die, attribute, &found) == nullptr) return std::nullopt;
  Dwarf_Sword value = 0;
  Dwarf_Word plain = 0;
  if (dwarf_whatform(&found) == DW_FORM_sdata || dwarf_whatform(&found) == DW_FORM_implicit_const) {
    if (dwarf_formsdata(&found, &value) != 0) return std::nullopt;
  } else {
    if (dwarf_formudata(&found, &plain) != 0) return std::nullopt;
    value = static_cast<Dwarf_Sword>(plain);
  }
  if (value < -kLargestConstant || value > kLargestConstant) return std::nullopt;
  return value;
}

bool is_structure(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

std::optional<PeeledType> peeled(const Dwarf_Die& type) {
  PeeledType out{.entry = type};
  for (int i = 0; i < kMostTypedefs; ++i) {
    switch (dwarf_tag(&out.entry)) {
      case DW_TAG_typedef:
      case DW_TAG_template_alias:
        if (out.alias.addr == nullptr) out.alias = out.entry;
        out.alignment = std::max(out.alignment, constant_of(out.entry, DW_AT_alignment).value_or(0));
        [[fallthrough]];
      case DW_TAG_const_type:
      case DW_TAG_volatile_type:
      case DW_TAG_restrict_type:
      case DW_TAG_atomic_type:
      case DW_TAG_immutable_type:
      case DW_TAG_packed_type: {
        Dwarf_Die next;
        if (!type_entry(out.entry, next)) return std::nullopt;
        out.entry = next;
        break;
      }
      default: return out;
    }
  }
  return std::nullopt;
}

}  // namespace linebounce::record
