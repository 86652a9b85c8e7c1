#include "models/cache/cache_array.hpp"

#include <algorithm>

namespace linebounce {
namespace {

std::size_t entries_of(const CacheSpec& spec) {
  return static_cast<std::size_t>(spec.size_kib) * 1024 / static_cast<std::size_t>(spec.line_bytes);
}

std::size_t sets_of(const CacheSpec& spec) {
  return entries_of(spec) / static_cast<std::size_t>(spec.ways);
}

// Twice the blocks, so that few share a hint; as much as stays near in the host's own caches.
std::size_t hints_of(const CacheSpec& spec) {
  constexpr std::size_t kMostHints = 16384;
  return std::bit_ceil(std::min(2 * entries_of(spec), kMostHints));
}

}  // namespace

CacheArray::CacheArray(const CacheSpec& spec)
    : line_shift_(std::countr_zero(static_cast<unsigned>(spec.line_bytes))),
      ways_(spec.ways),
      set_mask_(sets_of(spec) - 1),
      tags_(entries_of(spec)),
      copies_(entries_of(spec)),
      ages_(entries_of(spec)),
      hint_mask_(hints_of(spec) - 1),
      hints_(hints_of(spec)),
      replacement_(spec.replacement) {}

int CacheArray::search(std::uint64_t block) const {
  const int first = first_place(block);
  for (int place = first; place < first + ways_; ++place) {
    if (tags_[static_cast<std::size_t>(place)] != tag_of(block)) continue;
    hints_[static_cast<std::size_t>(block & hint_mask_)] = place;
    return place;
  }
  return -1;
}

}  // namespace linebounce
