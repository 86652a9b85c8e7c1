#include "models/cache/cache_array.hpp"

#include <algorithm>

namespace linebounce {
namespace {

std::uint64_t entries_of(const CacheSpec& spec) {
  return std::uint64_t{1024} * static_cast<unsigned>(spec.size_kib) / static_cast<unsigned>(spec.line_bytes);
}

std::uint64_t sets_of(const CacheSpec& spec) {
  return entries_of(spec) / static_cast<unsigned>(spec.ways);
}

// Two hints per block keep collisions rare. The limit keeps the hints small enough for the host's own caches.
std::uint64_t hints_of(const CacheSpec& spec) {
  constexpr std::uint64_t kMaxHints = 4096;
  return std::bit_ceil(std::min(2 * entries_of(spec), kMaxHints));
}

}  // namespace

CacheArray::CacheArray(const CacheSpec& spec)
    : line_shift_(std::countr_zero(static_cast<unsigned>(spec.line_bytes))),
      ways_(spec.ways),
      set_mask_(sets_of(spec) - 1),
      ways_by_place_(entries_of(spec)),
      hint_mask_(hints_of(spec) - 1),
      hints_(hints_of(spec)),
      replacement_(spec.replacement) {}

int CacheArray::search(std::uint64_t block) const {
  const int first = first_place_of_set(block);
  for (int place = first; place < first + ways_; ++place) {
    if (ways_by_place_[place].tag != tag_of(block)) continue;
    note_place(block, place);
    return place;
  }
  return -1;
}

}  // namespace linebounce
