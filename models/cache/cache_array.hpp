// One level of a cache: tags, which copy each way holds, and replacement. It knows nothing of states, values or time: an "age"
// is any number that grows with use. A "place" is a way of a set; they are numbered through the array, set by set.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "models/cache/replacement/policies.hpp"
#include "models/cache/zeroed_array.hpp"
#include "models/units.hpp"

namespace linebounce {

using CopyIndex = std::uint32_t;  // a copy of a line in its CacheAgent

class CacheArray {
 public:
  // REQUIRES: a spec that sim/config accepted: sets and line_bytes are powers of two.
  explicit CacheArray(const CacheSpec& spec);

  [[nodiscard]] int line_shift() const { return line_shift_; }
  [[nodiscard]] int ways() const { return ways_; }

  // The place that holds `block` (an address divided by this level's line size), or -1.
  [[nodiscard]] int find(std::uint64_t block) const {
    const int place = find_in_last_place(block);
    return place >= 0 ? place : search(block);
  }
  // Likewise, if it is where such a block was last: a fraction of the work. -1 means nothing.
  [[nodiscard]] int find_in_last_place(std::uint64_t block) const {
    const int place = hints_[static_cast<std::size_t>(block & hint_mask_)];
    return tags_[static_cast<std::size_t>(place)] == tag_of(block) ? place : -1;
  }

  [[nodiscard]] bool is_free(int place) const { return tags_[static_cast<std::size_t>(place)] == kFree; }
  // REQUIRES of this and the next: the place is not free.
  [[nodiscard]] CopyIndex copy(int place) const { return copies_[static_cast<std::size_t>(place)]; }

  void touch(int place, Tick age) { ages_[static_cast<std::size_t>(place)] = age; }
  // The same for a use that may lie before the latest: an age never goes back.
  void touch_if_newer(int place, Tick age) {
    if (ages_[static_cast<std::size_t>(place)] < age) touch(place, age);
  }

  // The place to fill: a free one, else the replacement policy's choice among those for which `evictable(copy)` holds; -1 if
  // none.
  template <class Evictable>
  [[nodiscard]] int victim(std::uint64_t block, Evictable evictable) const;

  // REQUIRES: `place` is one of the block's set.
  void insert(std::uint64_t block, int place, CopyIndex copy, Tick age) {
    tags_[static_cast<std::size_t>(place)] = tag_of(block);
    copies_[static_cast<std::size_t>(place)] = copy;
    hints_[static_cast<std::size_t>(block & hint_mask_)] = place;
    touch(place, age);
  }
  void remove(int place) { tags_[static_cast<std::size_t>(place)] = kFree; }

 private:
  static constexpr std::uint64_t kFree = 0;
  [[nodiscard]] static std::uint64_t tag_of(std::uint64_t block) { return block + 1; }

  // The first of its set.
  [[nodiscard]] int first_place(std::uint64_t block) const { return static_cast<int>(block & set_mask_) * ways_; }
  [[nodiscard]] int search(std::uint64_t block) const;

  int line_shift_;
  int ways_;
  std::uint64_t set_mask_;
  ZeroedArray<std::uint64_t> tags_;  // by place, as the next
  ZeroedArray<CopyIndex> copies_;
  ZeroedArray<Tick> ages_;  // of the latest use
  // By the low bits of a block's number: the place where such a block was last. What find() finds does not depend on it.
  std::uint64_t hint_mask_;
  ZeroedArray<int> hints_;
  Replacement replacement_;
};

template <class Evictable>
int CacheArray::victim(std::uint64_t block, Evictable evictable) const {
  const int first = first_place(block);
  for (int place = first; place < first + ways_; ++place) {
    if (is_free(place)) return place;
  }
  const auto ages = ages_.part(static_cast<std::size_t>(first), static_cast<std::size_t>(ways_));
  const int way = victim_of(replacement_, ages, [&](int candidate) { return evictable(copy(first + candidate)); });
  return way < 0 ? -1 : first + way;
}

}  // namespace linebounce
