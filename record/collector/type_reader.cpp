#include "record/collector/type_reader.hpp"

#include <dwarf.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <utility>

#include "record/collector/debug_entries.hpp"
#include "record/collector/program_image.hpp"

namespace linebounce::record {
namespace {

using types::Member;
using types::MemberKind;
using types::TypeKind;

constexpr std::int64_t kAddressBytes = 8;
constexpr int kVersionWithAlignment = 5;
constexpr int kDeepestClass = 64;  // of bases and nameless members within each other
constexpr std::int64_t kLargestType = std::int64_t{1} << 40;

// "~Node() = default;"
bool is_defaulted(Dwarf_Die& function) {
  return constant_of(function, DW_AT_defaulted).value_or(DW_DEFAULTED_no) == DW_DEFAULTED_in_class;
}

int language_of(Dwarf_Die& die) {
  Dwarf_Die unit;
  return dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr ? -1 : dwarf_srclang(&unit);
}

bool is_of_gfortran(Dwarf_Die& die) {
  Dwarf_Die unit;
  Dwarf_Attribute attribute;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return false;
  const char* producer = dwarf_formstring(dwarf_attr_integrate(&unit, DW_AT_producer, &attribute));
  return producer != nullptr && std::string_view(producer).starts_with("GNU Fortran");
}

// The numbers of elements of an array's dimensions; 0 where they are not told.
std::vector<std::int64_t> dimensions_of(Dwarf_Die& array) {
  std::vector<std::int64_t> counts;
  Dwarf_Die child;
  if (dwarf_child(&array, &child) != 0) return counts;
  do {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_subrange_type && tag != DW_TAG_enumeration_type && tag != DW_TAG_generic_subrange) continue;
    const auto last = constant_of(child, DW_AT_upper_bound);
    const std::int64_t by_bounds = last ? *last - constant_of(child, DW_AT_lower_bound).value_or(0) + 1 : 0;
    counts.push_back(std::max(constant_of(child, DW_AT_count).value_or(by_bounds), std::int64_t{0}));
  } while (next_sibling(child));
  return counts;
}

// An allocatable or pointer array of gfortran (libgfortran.h): address, offset, type and span, then three words a dimension.
std::int64_t descriptor_bytes(Dwarf_Die& array) {
  return 40 + 24 * std::max<std::int64_t>(1, std::ssize(dimensions_of(array)));
}

bool has_data_elsewhere(Dwarf_Die& array) {
  return dwarf_hasattr(&array, DW_AT_data_location) != 0;
}

std::int64_t size_of(Dwarf_Die& die) {
  switch (dwarf_tag(&die)) {
    case DW_TAG_ptr_to_member_type: {
      Dwarf_Die target;
      const auto stated = constant_of(die, DW_AT_byte_size);
      if (stated) return *stated;
      return type_entry(die, target) && dwarf_tag(&target) == DW_TAG_subroutine_type ? 2 * kAddressBytes : kAddressBytes;
    }
    case DW_TAG_unspecified_type: return name_of(die).find("nullptr") != std::string::npos ? kAddressBytes : 0;
    case DW_TAG_array_type:
      if (has_data_elsewhere(die)) return is_of_gfortran(die) ? descriptor_bytes(die) : 0;
      break;
    default: break;
  }
  Dwarf_Word bytes = 0;
  if (dwarf_aggregate_size(&die, &bytes) != 0 || bytes > static_cast<Dwarf_Word>(kLargestType)) return 0;
  return static_cast<std::int64_t>(bytes);
}

std::int64_t scalar_alignment_of(Dwarf_Die& die, std::int64_t bytes) {
  const bool is_complex = constant_of(die, DW_AT_encoding).value_or(0) == DW_ATE_complex_float;
  return types::scalar_alignment(is_complex ? bytes / 2 : bytes);
}

// The place of a member or of a base class that is not virtual.
std::optional<std::int64_t> byte_offset(Dwarf_Die& member) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(&member, DW_AT_data_member_location, &attribute) == nullptr) return 0;
  if (const auto constant = constant_of(member, DW_AT_data_member_location)) return *constant;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  const bool is_expression = dwarf_getlocation(&attribute, &operations, &count) == 0 && count == 1;
  if (!is_expression || operations[0].atom != DW_OP_plus_uconst || operations[0].number > kLargestType) return std::nullopt;
  return static_cast<std::int64_t>(operations[0].number);
}

// How far before a vtable's address point the offset of a virtual base is: dup, deref, constant, minus, deref, plus.
std::optional<std::int64_t> vtable_entry(Dwarf_Die& base) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr_integrate(&base, DW_AT_data_member_location, &attribute) == nullptr) return std::nullopt;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 6) return std::nullopt;
  if (operations[1].atom != DW_OP_deref || operations[3].atom != DW_OP_minus || operations[4].atom != DW_OP_deref)
    return std::nullopt;
  const Dwarf_Op& constant = operations[2];
  if (constant.atom >= DW_OP_lit0 && constant.atom <= DW_OP_lit31) return constant.atom - DW_OP_lit0;
  if (constant.number > kLargestType) return std::nullopt;
  return static_cast<std::int64_t>(constant.number);
}

class StructureReader {
 public:
  StructureReader(Dwarf_Die& die, Type& type, Types& all) : die_(die), type_(type), all_(all), language_(language_of(die)) {}

  void read() {
    add_members(die_, MemberKind::member);
    add_virtual_bases(die_, 0, 0);
    Dwarf_Half version = 0;
    dwarf_cu_info(die_.cu, &version, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    type_.states_alignment = version >= kVersionWithAlignment;
    const auto stated = constant_of(die_, DW_AT_alignment);
    const bool is_stated = stated && *stated > 0 && std::has_single_bit(static_cast<std::uint64_t>(*stated));
    type_.alignment = is_stated ? *stated : types::alignment_by_members(type_);
  }

 private:
  // `kind`: of members that are nothing special; `variant` in a variant part.
  void add_members(Dwarf_Die& scope, MemberKind kind) {
    Dwarf_Die child;
    if (dwarf_child(&scope, &child) != 0) return;
    do {
      switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
          if (name_of(child).starts_with('~')) type_.has_destructor |= !is_defaulted(child);
          break;
        case DW_TAG_inheritance:
          if (constant_of(child, DW_AT_virtuality).value_or(DW_VIRTUALITY_none) == DW_VIRTUALITY_none) add_base(child);
          break;
        case DW_TAG_member:
          // A static member.
          if (!dwarf_hasattr(&child, DW_AT_declaration) && !dwarf_hasattr(&child, DW_AT_external)) add_member(child, kind);
          break;
        case DW_TAG_variant_part: add_variants(child); break;
        default: break;
      }
    } while (next_sibling(child));
  }

  void add_variants(Dwarf_Die& part) {
    Dwarf_Die child;
    if (++depth_ > kDeepestClass || dwarf_child(&part, &child) != 0) return;
    do {
      if (dwarf_tag(&child) == DW_TAG_member) add_member(child, MemberKind::member);  // the tag
      if (dwarf_tag(&child) == DW_TAG_variant) add_members(child, MemberKind::variant);
    } while (next_sibling(child));
  }

  void add_member(Dwarf_Die& entry, MemberKind kind) {
    Member member{.name = name_of(entry), .kind = kind, .type = all_.shared_of(entry)};
    member.alignment = std::max(constant_of(entry, DW_AT_alignment).value_or(0), typedef_alignment(entry));
    if (dwarf_hasattr(&entry, DW_AT_bit_size)) {
      set_bits(entry, member);
    } else {
      place(member, byte_offset(entry));
      classify(member);
    }
    if (member.type != nullptr) type_.has_destructor |= member.type->has_destructor;
    add(std::move(member));
  }

  // Where a member of damaged debug information reaches out of its structure, its place counts as unknown.
  void add(Member member) {
    const std::int64_t room = type_.size * 8 - member.bits;
    if (member.bit_offset && (*member.bit_offset < 0 || *member.bit_offset > room)) member.bit_offset.reset();
    if (member.bits < 0) member.bits = 0;
    type_.members.push_back(std::move(member));
  }

  static void place(Member& member, std::optional<std::int64_t> offset) {
    member.bit_offset.reset();
    if (offset) member.bit_offset = *offset * 8;
    member.bits = member.type == nullptr ? 0 : member.type->size * 8;
  }

  void classify(Member& member) const {
    const bool is_plain = member.kind == MemberKind::member;
    const bool is_structure = member.type != nullptr && member.type->is_aggregate();
    if (member.name.starts_with("_vptr")) {
      member.kind = MemberKind::vtable_pointer;
      member.name = "_vptr";  // gcc's "_vptr.Base", clang's "_vptr$Base"
    } else if (is_structure && member.type->size > 0 && types::is_empty(*member.type)) {
      member.kind = MemberKind::empty;
      member.bits = 0;
    } else if (member.type != nullptr && member.bits == 0 && member.type->kind == TypeKind::array) {
      member.kind = MemberKind::flexible_array;
    } else if (is_plain && member.name.empty() && is_structure) {
      member.kind = MemberKind::anonymous;
    } else if (is_plain && member.name == "_" && language_ == DW_LANG_Go) {
      member.kind = MemberKind::gap;
    }
  }

  void set_bits(Dwarf_Die& entry, Member& member) {
    if (member.kind == MemberKind::member) member.kind = MemberKind::bit_field;
    member.bits = constant_of(entry, DW_AT_bit_size).value_or(0);
    member.bit_offset = constant_of(entry, DW_AT_data_bit_offset);
    if (member.bit_offset) return;
    const auto bytes = byte_offset(entry);
    if (!bytes || dwarf_hasattr(&entry, DW_AT_data_bit_offset)) return;
    member.bit_offset = *bytes * 8;
    // DWARF 2 and 3 count from the most significant bit of a unit of this size.
    const auto from_top = constant_of(entry, DW_AT_bit_offset);
    const auto unit = constant_of(entry, DW_AT_byte_size).value_or(member.type == nullptr ? 0 : member.type->size);
    if (from_top) *member.bit_offset += unit * 8 - *from_top - member.bits;
  }

  static std::int64_t typedef_alignment(Dwarf_Die& entry) {
    Dwarf_Die type;
    if (!type_entry(entry, type)) return 0;
    const auto found = peeled(type);
    return found ? found->alignment : 0;
  }

  static void size_base(Member& member) {
    if (member.type == nullptr) return;
    member.bits = types::base_size(*member.type) * 8;
    if (member.type->size == 0 || !types::is_empty(*member.type)) return;
    member.kind = MemberKind::empty;
    member.bits = 0;
  }

  void add_base(Dwarf_Die& entry) {
    Member member{.kind = MemberKind::base_class, .type = all_.shared_of(entry)};
    place(member, byte_offset(entry));
    size_base(member);
    if (member.type != nullptr) {
      member.name = member.type->name;
      type_.has_destructor |= member.type->has_destructor;
    }
    add(std::move(member));
  }

  // Those of all classes from which this one is derived: it places each of them once. `part`: where the class lies in an
  // object.
  void add_virtual_bases(Dwarf_Die& structure, std::optional<std::int64_t> part, int depth) {
    Dwarf_Die child;
    if (depth > kDeepestClass || !classes_.emplace(structure.addr, part).second || dwarf_child(&structure, &child) != 0) return;
    do {
      if (dwarf_tag(&child) != DW_TAG_inheritance) continue;
      const bool is_virtual = constant_of(child, DW_AT_virtuality).value_or(DW_VIRTUALITY_none) != DW_VIRTUALITY_none;
      std::optional<std::int64_t> offset;
      if (is_virtual) {
        if (!add_virtual_base(child, structure, part, offset)) continue;
      } else if (const auto within = byte_offset(child); part && within) {
        offset = *part + *within;
      }
      Dwarf_Die base;
      const auto found = type_entry(child, base) ? peeled(base) : std::nullopt;
      Dwarf_Die complete = found ? found->entry : Dwarf_Die{};
      if (found && all_.complete(complete)) add_virtual_bases(complete, offset, depth + 1);
    } while (next_sibling(child));
  }

  // Returns false if the class has this base already. `offset`: receives its place; none if it is not known.
  bool add_virtual_base(Dwarf_Die& entry, Dwarf_Die& structure, std::optional<std::int64_t> part,
                        std::optional<std::int64_t>& offset) {
    Member member{.kind = MemberKind::virtual_base, .type = all_.shared_of(entry)};
    if (member.type != nullptr && !virtual_bases_.insert(member.type.get()).second) return false;
    const auto in_vtable = vtable_entry(entry);
    if (part && in_vtable) offset = all_.virtual_bases_of(structure).offset(type_.name, *part, *in_vtable);
    const std::int64_t bytes = member.type == nullptr ? 0 : types::base_size(*member.type);
    if (offset && (*offset < 0 || *offset > type_.size - bytes)) offset.reset();
    place(member, offset);
    size_base(member);
    if (member.kind == MemberKind::empty && !member.bit_offset) member.bit_offset = 0;  // it has no bytes anywhere
    if (member.type != nullptr) member.name = member.type->name;
    add(std::move(member));
    return true;
  }

  Dwarf_Die& die_;
  Type& type_;
  Types& all_;
  int language_;
  int depth_ = 0;
  std::set<const Type*> virtual_bases_;
  std::set<std::pair<const void*, std::optional<std::int64_t>>> classes_;  // in which add_virtual_bases() has looked, and where
};

// Merges the dimensions of an array: m[2][3] has 6 elements.
void read_array(Dwarf_Die& die, Type& type, Types& types) {
  type.kind = TypeKind::array;
  TypePtr element = types.shared_of(die);
  if (has_data_elsewhere(die)) {  // its descriptor is a scalar to us
    type.kind = TypeKind::scalar;
    type.alignment = type.size == 0 ? 1 : kAddressBytes;
    return;
  }
  if (element == nullptr || element->size == 0) return;
  if (type.size == 0) {  // libdw knows no size of elements that a type unit describes
    type.size = element->size;
    for (const std::int64_t count : dimensions_of(die))
      type.size = type.size > 0 && count <= kLargestType / type.size ? type.size * count : 0;
  }
  type.alignment = element->alignment;
  if (dwarf_hasattr(&die, DW_AT_GNU_vector) && std::has_single_bit(static_cast<std::uint64_t>(type.size)))
    type.alignment = type.size;
  type.has_destructor = element->has_destructor;
  if (type.size % element->size == 0) {
    type.elements = type.size / element->size;
    type.element = std::move(element);
  }
}

}  // namespace

TypePtr described_type(Dwarf_Die& die, const std::string& alias, Types& types) {
  auto type = std::make_shared<Type>();
  const int tag = dwarf_tag(&die);
  type->name = is_structure(tag) ? types.qualified_name(die) : name_of(die);
  if (type->name.empty()) type->name = alias;
  type->size = std::max(size_of(die), std::int64_t{0});
  type->is_variant = types.is_variant(die);
  if (is_structure(tag)) {
    type->kind = tag == DW_TAG_union_type ? TypeKind::union_type : TypeKind::structure;
    type->source = declared_at(die);
    StructureReader(die, *type, types).read();
  } else if (tag == DW_TAG_array_type) {
    read_array(die, *type, types);
  } else {
    type->alignment = scalar_alignment_of(die, type->size);
  }
  return type;
}

bool find_member(Dwarf_Die& structure, const std::string& name, Dwarf_Die& found, int depth) {
  Dwarf_Die child;
  if (depth > kDeepestClass || dwarf_child(&structure, &child) != 0) return false;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_member && name_of(child) == name) {
      found = child;
      return true;
    }
    const bool has_parts = tag == DW_TAG_inheritance || (tag == DW_TAG_member && name_of(child).empty());
    Dwarf_Die type;
    const auto inner = has_parts && type_entry(child, type) ? peeled(type) : std::nullopt;
    Dwarf_Die entry = inner ? inner->entry : Dwarf_Die{};
    if (inner && is_structure(dwarf_tag(&entry)) && find_member(entry, name, found, depth + 1)) return true;
  } while (next_sibling(child));
  return false;
}

}  // namespace linebounce::record
