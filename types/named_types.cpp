#include "types/named_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "types/bit_numbering.hpp"
#include "types/member_declaration.hpp"

namespace linebounce::types {
namespace {

constexpr std::size_t kDeepestLink = 64;  // of types within types

// Types whose alignment is that of their size although it is more than 8.
bool is_wide(std::string_view type) {
  constexpr std::array<std::string_view, 4> kWide = {"long double", "__int128", "__int128 unsigned", "unsigned __int128"};
  return std::ranges::find(kWide, without_keywords(type)) != kWide.end();
}

TypePtr scalar(std::string name, std::int64_t bytes) {
  Type type{.name = std::move(name), .kind = TypeKind::scalar, .size = bytes, .alignment = natural_alignment(bytes)};
  if (is_wide(type.name)) type.alignment = scalar_alignment(bytes);
  return std::make_shared<const Type>(std::move(type));
}

// Linux's list_head, which most listings do not have.
TypePtr list_head(std::int64_t bytes) {
  Type type{.name = "list_head", .kind = TypeKind::structure, .size = bytes, .alignment = bytes / 2};
  for (int i = 0; i < 2; ++i) {
    Member pointer{.name = i == 0 ? "next" : "prev", .bit_offset = i * bytes * 4, .bits = bytes * 4};
    pointer.type = scalar("struct list_head *", bytes / 2);
    type.members.push_back(std::move(pointer));
  }
  return std::make_shared<const Type>(std::move(type));
}

// Only structures within a structure, bit-fields and gaps have no name. Where a listing lacks another's, its place names it.
void name_unnamed(Member& member) {
  if (!member.name.empty()) return;
  if (member.kind == MemberKind::bit_field) member.kind = MemberKind::gap;
  const bool is_structure = member.type != nullptr && member.type->is_aggregate();
  if (member.kind == MemberKind::anonymous && !is_structure) member.kind = MemberKind::member;
  const bool has_name =
      member.kind != MemberKind::gap && member.kind != MemberKind::empty && member.kind != MemberKind::anonymous;
  if (has_name) member.name = fmt::format("(unnamed, from byte {})", member.begin());
}

// Where the first member behind this one begins, at most the end of the structure.
std::int64_t next_begin(const OutlineMember& member, const Outline& outline) {
  std::int64_t next = std::max(outline.size, member.begin());
  for (const OutlineMember& other : outline.members) {
    if (other.bit_offset && other.begin() > member.begin()) next = std::min(next, other.begin());
  }
  return next;
}

// A figure that reaches beyond the structure is not that of the member.
bool reaches_too_far(const OutlineMember& member, const Outline& outline) {
  return outline.size >= 0 && member.bit_offset && member.kind != MemberKind::bit_field &&
         member.begin() + member.bytes > outline.size;
}

// The size of a union that does not state it: up to the largest member's end, and its alignment.
std::int64_t union_size(const Type& type, bool is_packed) {
  std::int64_t end = 0, alignment = 1;
  for (const Member& member : type.members) {
    end = std::max(end, member.end());
    if (member.type != nullptr && !is_packed) alignment = std::max({alignment, member.type->alignment, member.alignment});
  }
  return (end + alignment - 1) / alignment * alignment;
}

// A member of such a class is taken as a whole.
bool has_hidden_base(const Type& type) {
  return std::ranges::any_of(type.members, [](const Member& member) {
    const bool is_base = member.kind == MemberKind::base_class || member.kind == MemberKind::virtual_base;
    return (is_base && !member.bit_offset) || (member.type != nullptr && has_hidden_base(*member.type));
  });
}

// What says which variant an enumeration in Rust has, of which listings say nothing. It may lie in any byte that the variants
// leave free.
void add_tag(Type& type) {
  Member tag{.name = "(tag)", .kind = MemberKind::gap, .bits = type.size * 8};
  tag.type = scalar("", type.size);
  type.members.push_back(std::move(tag));
}

// The free bits that the listing states behind a bit-field. With as many as its number, it counts from the top of its unit, and
// they lie in the unit.
std::int64_t free_bits_behind(const OutlineMember& member) {
  const std::int64_t free = member.free_behind.value_or(0);
  const bool counts_from_top = member.bit_number && free == *member.bit_number;
  return counts_from_top ? std::max<std::int64_t>(member.bytes * 8 - free - member.bits, 0) : free;
}

// Rust's enumerations: the whole has no members, and each type within is a variant of the whole's size.
bool has_variants(const Outline& outline) {
  const auto is_whole = [&outline](const Outline& one) { return one.size == outline.size; };
  return outline.members.empty() && outline.size > 1 && !outline.definitions.empty() &&
         std::ranges::all_of(outline.definitions, is_whole);
}

}  // namespace

std::int64_t end_of_members(const Outline& outline) {
  std::int64_t end = 0;
  for (const OutlineMember& member : outline.members) {
    if (!member.bit_offset) continue;
    const bool is_bit_field = member.kind == MemberKind::bit_field;
    const std::int64_t bits = is_bit_field ? member.bits + free_bits_behind(member) : member.bytes * 8;
    end = std::max(end, (*member.bit_offset + bits + 7) / 8);
  }
  return end;
}

void add_gap(Outline& outline, std::int64_t begin, std::int64_t bytes) {
  if (begin < 0 || bytes <= 0) return;
  if (!outline.gaps) outline.gaps.emplace();
  outline.gaps->push_back({begin, begin + bytes});
}

void note_free_bits(Outline& outline, std::int64_t bits) {
  if (outline.members.empty() || outline.members.back().kind != MemberKind::bit_field) {
    outline.free_bits = bits;
    return;
  }
  OutlineMember& member = outline.members.back();
  member.free_behind = bits;
  const std::int64_t unit_end = (*member.bit_offset - member.bit_number.value_or(0)) / 8 + member.bytes;
  add_gap(outline, unit_end, end_of_members(outline) - unit_end);
}

void NamedTypes::add(Outline outline) {
  by_name_.emplace(outline.name, outlines_.size());
  outlines_.push_back(std::move(outline));
}

Listing NamedTypes::listing() {
  settle_bit_numbering(outlines_);
  Listing listing;
  for (std::size_t i = 0; i < outlines_.size(); ++i) {
    try {
      listing.structures.push_back(made(i));
    } catch (const std::invalid_argument& error) {
      unread_.push_back({outlines_[i].name, error.what()});
    }
  }
  listing.unread = unread_;
  return listing;
}

TypePtr NamedTypes::made(std::size_t number) {
  const auto known = made_.find(number);
  if (known != made_.end()) return known->second;
  open_.insert(number);
  TypePtr type = make(outlines_[number]);
  open_.erase(number);
  made_.emplace(number, type);
  return type;
}

TypePtr NamedTypes::make(const Outline& outline) {
  Type type{.name = outline.name, .kind = outline.kind, .size = std::max(outline.size, std::int64_t{0})};
  type.states_alignment = outline.states_alignment;
  type.gaps = outline.gaps;
  type.untold = outline.untold;
  if (has_variants(outline)) {
    add_variants(type, outline);
  } else {
    add_members(type, outline);
  }
  if (outline.size < 0) type.size = union_size(type, outline.is_packed);
  if (outline.hides_bases) type.untold.push_back({0, type.size});
  const std::int64_t by_members = outline.is_packed ? std::int64_t{1} : alignment_by_members(type);
  type.alignment = outline.has_exact_alignment ? outline.alignment : std::max(outline.alignment, by_members);
  return std::make_shared<const Type>(std::move(type));
}

void NamedTypes::add_variants(Type& type, const Outline& outline) {
  for (const Outline& one : outline.definitions) {
    Type variant = *make(one);
    variant.is_variant = true;
    Member member{.name = one.name, .kind = MemberKind::variant, .bits = type.size * 8};
    member.type = std::make_shared<const Type>(std::move(variant));
    type.members.push_back(std::move(member));
  }
  add_tag(type);
}

void NamedTypes::add_members(Type& type, const Outline& outline) {
  for (const OutlineMember& given : outline.members) {
    type.members.push_back(member_of(given, type, outline));
    name_unnamed(type.members.back());
  }
  if (std::ranges::any_of(type.members, [](const Member& member) { return member.kind == MemberKind::variant; })) add_tag(type);
}

Member NamedTypes::member_of(const OutlineMember& given, Type& type, const Outline& outline) {
  Member member{.name = given.name, .kind = given.kind, .bit_offset = given.bit_offset, .alignment = given.alignment};
  if (given.kind == MemberKind::base_class || given.kind == MemberKind::virtual_base) {
    const auto named = by_name_.find(given.type);
    if (named != by_name_.end() && !open_.contains(named->second) && open_.size() < kDeepestLink)
      member.type = made(named->second);
    // Members may lie in the padding at the end of a base class.
    const std::int64_t next = next_begin(given, outline);
    const std::int64_t bytes = std::min(given.bytes, next > given.begin() ? next - given.begin() : given.bytes);
    if (member.type == nullptr) member.type = scalar(given.name, bytes);
    member.bits = base_size(*member.type) * 8;
    return member;
  }
  const bool has_no_width = given.kind == MemberKind::bit_field && given.bits == 0;
  if (given.has_unknown_size || has_no_width || reaches_too_far(given, outline)) {
    if (!given.bit_offset) return member;
    // Only its first byte is certain.
    member.type = scalar(given.type, 1);
    member.bits = 8;
    type.untold.push_back({given.begin(), next_begin(given, outline)});
    return member;
  }
  if (given.kind == MemberKind::bit_field || (given.kind == MemberKind::gap && given.bits > 0)) {
    member.type = scalar(given.type, given.bytes);
    member.bits = given.bits;
    return member;
  }
  if (given.kind == MemberKind::variant) {
    member.bits = given.bytes * 8;
    Type variant{.kind = TypeKind::structure, .size = given.bytes};
    if (given.inside != nullptr) variant = *element_of(given, given.bytes);
    variant.name = given.name;
    variant.is_variant = true;
    member.type = std::make_shared<const Type>(std::move(variant));
    return member;
  }
  member.type = type_of(given);
  member.bits = given.kind == MemberKind::empty ? 0 : given.bytes * 8;
  if (member.bits == 0 && given.kind == MemberKind::member)
    member.kind = given.elements ? MemberKind::flexible_array : MemberKind::empty;
  return member;
}

TypePtr NamedTypes::type_of(const OutlineMember& given) {
  if (!given.elements) return element_of(given, given.bytes);
  const std::int64_t elements = *given.elements;
  if (elements > 0 && given.bytes % elements != 0) return scalar(given.type, given.bytes);
  Type type{.kind = TypeKind::array, .size = given.bytes, .elements = elements};
  type.element = element_of(given, elements == 0 ? 0 : given.bytes / elements);
  type.alignment = type.element->alignment;
  return std::make_shared<const Type>(std::move(type));
}

TypePtr NamedTypes::element_of(const OutlineMember& given, std::int64_t bytes) {
  if (given.inside != nullptr) {
    Outline inside = *given.inside;
    inside.size = bytes;
    TypePtr type = make(inside);
    return has_hidden_base(*type) && !unexplained_bytes(*type).empty() ? scalar(type->name, bytes) : type;
  }
  const std::string name(without_keywords(given.type));
  const auto [begin, end] = by_name_.equal_range(name);
  for (auto at = begin; at != end && open_.size() < kDeepestLink; ++at) {
    const Outline& outline = outlines_[at->second];
    if (!open_.contains(at->second) && (outline.size < 0 || outline.size == bytes)) {
      TypePtr type = made(at->second);
      if (type->size == bytes) return type;
    }
  }
  constexpr std::int64_t kEmptyClass = 1;  // bytes
  const bool is_empty = bytes == 0 && !given.elements && name != given.type;
  if (is_empty) return scalar(given.type, kEmptyClass);
  const bool is_list = name == "list_head" && name != given.type && bytes % 2 == 0 && bytes > 0;
  return is_list ? list_head(bytes) : scalar(given.type, bytes);
}

}  // namespace linebounce::types
