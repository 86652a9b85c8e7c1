#include "types/bit_numbering.hpp"

#include <algorithm>
#include <set>

namespace linebounce::types {
namespace {

enum class CountedFrom : std::uint8_t { least_significant, most_significant };

bool is_numbered(const OutlineMember& member) {
  return member.kind == MemberKind::bit_field && member.bit_number && member.bit_offset && member.bits > 0;
}

std::int64_t unit_begin(const OutlineMember& member) {
  return *member.bit_offset - *member.bit_number;
}

std::int64_t bit_begin(const OutlineMember& member, CountedFrom from) {
  if (from == CountedFrom::least_significant || !is_numbered(member)) return member.bit_offset.value_or(0);
  return unit_begin(member) + member.bytes * 8 - *member.bit_number - member.bits;
}

std::int64_t bit_end(const OutlineMember& member, CountedFrom from) {
  const bool is_bit_field = member.kind == MemberKind::bit_field;
  return bit_begin(member, from) + (is_bit_field ? member.bits : member.bytes * 8);
}

// How many members agree with, and how many contradict, counting from the least and from the most significant bit.
struct Evidence {
  int against_least = 0, against_most = 0;  // members that overlap or are out of order
  int for_least = 0, for_most = 0;          // bit-fields beside free bits, or first in their unit

  [[nodiscard]] bool members_decide() const { return (against_least == 0) != (against_most == 0); }
  [[nodiscard]] bool is_for_most() const { return members_decide() ? against_most == 0 : for_most > for_least; }
  [[nodiscard]] bool is_open() const { return !members_decide() && for_most == for_least; }
};

// Members that overlap the one before them or begin in front of it.
int contradictions(const Outline& outline, CountedFrom from) {
  int count = 0;
  const OutlineMember* before = nullptr;
  for (const OutlineMember& member : outline.members) {
    const bool lends_padding = member.kind == MemberKind::base_class || member.kind == MemberKind::virtual_base;
    if (!member.bit_offset || lends_padding || member.kind == MemberKind::empty || member.has_unknown_size) continue;
    const bool concerns = before != nullptr && (is_numbered(*before) || is_numbered(member));
    if (concerns && bit_begin(member, from) < bit_end(*before, from)) ++count;
    before = &member;
  }
  return count;
}

// `is_first`: nothing in front of it in its unit is known.
void weigh(const OutlineMember& member, bool is_first, Evidence& evidence) {
  const std::int64_t number = *member.bit_number, rest = member.bytes * 8 - member.bits - number;
  if (number == rest) return;  // both ways place it alike
  // gdb lists free whole bytes in a line of their own, and only the remaining bits here.
  const auto leaves = [](std::int64_t free, std::int64_t bits) { return free == bits || free == bits % 8; };
  const std::int64_t free = member.free_behind.value_or(0);
  if (member.free_before) {
    ++(leaves(*member.free_before, number) ? evidence.for_least : evidence.for_most);
  } else if (member.free_behind && leaves(free, rest) != leaves(free, number)) {
    ++(leaves(free, rest) ? evidence.for_least : evidence.for_most);
  } else if (is_first) {
    if (number == 0) ++evidence.for_least;
    if (rest == 0) ++evidence.for_most;
  }
}

void gather(const Outline& outline, Evidence& evidence) {
  if (outline.kind == TypeKind::structure) {
    evidence.against_least += contradictions(outline, CountedFrom::least_significant);
    evidence.against_most += contradictions(outline, CountedFrom::most_significant);
  }
  std::set<std::int64_t> units;
  for (const OutlineMember& member : outline.members) {
    if (member.inside != nullptr) gather(*member.inside, evidence);
    if (!is_numbered(member)) continue;
    const bool is_first = units.insert(unit_begin(member)).second || outline.kind == TypeKind::union_type;
    weigh(member, is_first, evidence);
  }
  for (const Outline& inner : outline.definitions) gather(inner, evidence);
}

void place(Outline& outline, const Evidence& evidence) {
  for (OutlineMember& member : outline.members) {
    if (member.inside != nullptr) place(*member.inside, evidence);
    if (!is_numbered(member)) continue;
    const std::int64_t least = bit_begin(member, CountedFrom::least_significant);
    const std::int64_t most = bit_begin(member, CountedFrom::most_significant);
    if (evidence.is_open() && least != most) {
      const auto [first, last] = std::minmax(least, most);
      outline.untold.push_back({std::max<std::int64_t>(first, 0) / 8, (last + member.bits + 7) / 8});
      member.bytes = 0;  // none of its unit is known to be free
    } else if (evidence.is_for_most()) {
      member.bit_offset = std::max<std::int64_t>(most, 0);
    }
  }
  for (Outline& inner : outline.definitions) place(inner, evidence);
}

}  // namespace

void settle_bit_numbering(std::vector<Outline>& outlines) {
  Evidence evidence;
  for (const Outline& outline : outlines) gather(outline, evidence);
  for (Outline& outline : outlines) place(outline, evidence);
}

}  // namespace linebounce::types
