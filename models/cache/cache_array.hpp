// One cache level: each way's tag, replacement age and copy. The class knows nothing of states, data or time. An "age" is any
// number that is larger for later uses. A "place" is the index of a way, counted through all sets.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "models/cache/replacement/policies.hpp"
#include "models/cache/zeroed_array.hpp"
#include "models/units.hpp"

namespace linebounce {

using CopyIndex = std::uint32_t;  // index of a Copy in its CacheAgent

class CacheArray {
 public:
  // REQUIRES: the number of sets and `line_bytes` are powers of two, as sim/config checks.
  explicit CacheArray(const CacheSpec& spec);

  [[nodiscard]] int line_shift() const { return line_shift_; }
  [[nodiscard]] int ways() const { return ways_; }

  // The place that holds `block` (an address divided by this level's line size), or -1.
  [[nodiscard]] int find(std::uint64_t block) const {
    const int place = find_in_last_place(block);
    return place >= 0 ? place : search(block);
  }
  // Faster than find(), but may return -1 for a block that the level holds.
  [[nodiscard]] int find_in_last_place(std::uint64_t block) const {
    const int place = hints_[block & hint_mask_];
    return tags_[place] == tag_of(block) ? place : -1;
  }

  [[nodiscard]] bool is_free(int place) const { return tags_[place] == kFree; }
  // REQUIRES: the place is not free.
  [[nodiscard]] CopyIndex copy(int place) const { return copies_[place]; }

  // REQUIRES: the place is not free.
  void touch(int place, Tick age) { ages_[place] = age; }
  // Records a use that may be reported out of order: an age never decreases.
  void touch_if_newer(int place, Tick age) {
    if (ages_[place] < age) touch(place, age);
  }

  // Returns a free place for `block`, else the policy's victim among copies for which `evictable(copy)` is true, else -1.
  template <class Evictable>
  [[nodiscard]] int victim(std::uint64_t block, Evictable evictable) const;

  // REQUIRES: `place` is in the block's set.
  void insert(std::uint64_t block, int place, CopyIndex copy, Tick age) {
    tags_[place] = tag_of(block);
    copies_[place] = copy;
    hints_[block & hint_mask_] = place;
    touch(place, age);
  }
  void remove(int place) { tags_[place] = kFree; }

 private:
  static constexpr std::uint64_t kFree = 0;
  [[nodiscard]] static std::uint64_t tag_of(std::uint64_t block) { return block + 1; }

  [[nodiscard]] int first_place_of_set(std::uint64_t block) const { return static_cast<int>(block & set_mask_) * ways_; }
  [[nodiscard]] int search(std::uint64_t block) const;

  int line_shift_;
  int ways_;
  std::uint64_t set_mask_;
  // Arrays indexed by place.
  ZeroedArray<std::uint64_t> tags_;
  ZeroedArray<CopyIndex> copies_;
  ZeroedArray<Tick> ages_;  // age of the latest use
  // hints_[low bits of a block's number]: the latest place of such a block. A wrong hint costs a search, and changes no result.
  std::uint64_t hint_mask_;
  ZeroedArray<int> hints_;
  Replacement replacement_;
};

template <class Evictable>
int CacheArray::victim(std::uint64_t block, Evictable evictable) const {
  const int first = first_place_of_set(block);
  for (int place = first; place < first + ways_; ++place) {
    if (is_free(place)) return place;
  }
  const auto ages = ages_.part(first, ways_);
  const int way = victim_of(replacement_, ages, [&](int candidate) { return evictable(copy(first + candidate)); });
  return way < 0 ? -1 : first + way;
}

}  // namespace linebounce
