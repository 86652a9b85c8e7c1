// One cache level: each way's tag, replacement age and copy. The class knows nothing of states, data or time. An "age" is any
// number that is larger for later uses. A "place" is the index of a way, counted through all sets.
#pragma once

#include <bit>
#include <cstdint>

#include "models/cache/replacement/policies.hpp"
#include "models/cache/zeroed_array.hpp"
#include "models/units.hpp"

namespace linebounce {

using CopyIndex = std::uint32_t;  // index of a Copy in its CacheAgent

// Fits and is aligned to one cache line of the host, because a bus asks the caches of all holders of a line.
class alignas(64) CacheArray {
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
    return ways_by_place_[place].tag == tag_of(block) ? place : -1;
  }

  // Lets find_in_last_place() find the block there. REQUIRES: the place holds the block.
  void note_place(std::uint64_t block, int place) const { hints_[block & hint_mask_] = place; }

  [[nodiscard]] bool is_free(int place) const { return ways_by_place_[place].tag == kFree; }
  // REQUIRES: the place is not free.
  [[nodiscard]] CopyIndex copy(int place) const { return ways_by_place_[place].copy; }

  // REQUIRES: the place is not free.
  void touch(int place, Tick age) { ways_by_place_[place].age = age; }
  // Records a use that may be reported out of order: an age never decreases.
  void touch_if_newer(int place, Tick age) {
    if (ways_by_place_[place].age < age) touch(place, age);
  }

  // Returns a free place for `block`, else the policy's victim among copies for which `evictable(copy)` is true, else -1.
  template <class Evictable>
  [[nodiscard]] int victim(std::uint64_t block, Evictable evictable) const;

  // REQUIRES: `place` is in the block's set.
  void insert(std::uint64_t block, int place, CopyIndex copy, Tick age) {
    ways_by_place_[place] = {tag_of(block), age, copy};
    note_place(block, place);
  }
  void remove(int place) { ways_by_place_[place].tag = kFree; }

 private:
  static constexpr std::uint64_t kFree = 0;
  // One struct for all that the array knows of a way, so that an access finds it on one cache line of the host.
  struct Way {
    std::uint64_t tag;
    Tick age;  // of the latest use
    CopyIndex copy;
  };
  [[nodiscard]] static std::uint64_t tag_of(std::uint64_t block) { return block + 1; }

  [[nodiscard]] int first_place_of_set(std::uint64_t block) const { return static_cast<int>(block & set_mask_) * ways_; }
  [[nodiscard]] int search(std::uint64_t block) const;

  int line_shift_;
  int ways_;
  std::uint64_t set_mask_;
  ZeroedArray<Way> ways_by_place_;
  // hints_[low bits of a block's number]: the place where a block with these bits was found last. A wrong hint costs a
  // search, but changes no result.
  std::uint64_t hint_mask_;
  ZeroedArray<int> hints_;
  Replacement replacement_;
};
static_assert(sizeof(CacheArray) == 64);

template <class Evictable>
int CacheArray::victim(std::uint64_t block, Evictable evictable) const {
  const int first = first_place_of_set(block);
  for (int place = first; place < first + ways_; ++place) {
    if (is_free(place)) return place;
  }
  const auto age_of = [ways = &ways_by_place_[first]](int way) { return ways[way].age; };
  const int way = victim_of(replacement_, ways_, age_of, [&](int candidate) { return evictable(copy(first + candidate)); });
  return way < 0 ? -1 : first + way;
}

}  // namespace linebounce
