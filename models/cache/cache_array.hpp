// One level of a cache: tags, which copy each way holds, and replacement. It knows nothing of states, values or time: an "age"
// is any number that grows with use.
#pragma once

#include <bit>
#include <cstdint>
#include <variant>
#include <vector>

#include "models/cache/replacement/policies.hpp"
#include "models/units.hpp"

namespace linebounce {

using CopyIndex = std::uint32_t;  // a copy of a line in its CacheAgent
constexpr CopyIndex kNoCopy = 0xFFFFFFFF;

class CacheArray {
 public:
  // REQUIRES: a spec that sim/config accepted: sets and line_bytes are powers of two.
  explicit CacheArray(const CacheSpec& spec);

  [[nodiscard]] int line_shift() const { return line_shift_; }
  [[nodiscard]] int ways() const { return ways_; }

  // The way that holds `block` (an address divided by this level's line size), or -1.
  [[nodiscard]] int find(std::uint64_t block) const {
    const std::uint64_t* tags = &tags_[first_way(block)];
    std::uint16_t& hint = hints_[static_cast<std::size_t>(block & hint_mask_)];
    if (tags[hint] == block) [[likely]]
      return hint;
    for (int way = 0; way < ways_; ++way) {
      if (tags[way] != block) continue;
      hint = static_cast<std::uint16_t>(way);
      return way;
    }
    return -1;
  }

  [[nodiscard]] CopyIndex copy(std::uint64_t block, int way) const { return copies_[index(block, way)]; }

  void touch(std::uint64_t block, int way, Tick age) {
    std::visit([&](auto& policy) { policy.touch(set(block), way, age); }, policy_);
  }

  // The same for a use that may lie before the latest: an age never goes back.
  void touch_if_newer(std::uint64_t block, int way, Tick age) {
    std::visit([&](auto& policy) { policy.touch_if_newer(set(block), way, age); }, policy_);
  }

  // Ages alone decide who makes room, never the order of calls.
  [[nodiscard]] bool goes_by_ages() const {
    return std::visit([](const auto& policy) { return policy.kByAges; }, policy_);
  }

  // The way to fill: a free one, else the replacement policy's choice among those for which `evictable(copy)` holds; -1 if
  // none.
  template <class Evictable>
  [[nodiscard]] int victim(std::uint64_t block, Evictable evictable) const;

  [[nodiscard]] std::uint64_t block_at(std::uint64_t block, int way) const { return tags_[index(block, way)]; }
  void insert(std::uint64_t block, int way, CopyIndex copy, Tick age) {
    tags_[index(block, way)] = block;
    copies_[index(block, way)] = copy;
    hints_[static_cast<std::size_t>(block & hint_mask_)] = static_cast<std::uint16_t>(way);
    touch(block, way, age);
  }
  void remove(std::uint64_t block, int way) {
    tags_[index(block, way)] = kEmpty;
    copies_[index(block, way)] = kNoCopy;
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  [[nodiscard]] std::size_t set(std::uint64_t block) const { return static_cast<std::size_t>(block & set_mask_); }
  [[nodiscard]] std::size_t first_way(std::uint64_t block) const { return set(block) * static_cast<std::size_t>(ways_); }
  [[nodiscard]] std::size_t index(std::uint64_t block, int way) const {
    return first_way(block) + static_cast<std::size_t>(way);
  }

  int line_shift_;
  int ways_;
  std::uint64_t set_mask_;
  std::vector<std::uint64_t> tags_;
  std::vector<CopyIndex> copies_;
  // By the low bits of a block's number: the way where such a block was last, which saves the search. What is found does not
  // depend on it. A way's number that does not fit is cut off, and is a way's all the same.
  std::uint64_t hint_mask_;
  mutable std::vector<std::uint16_t> hints_;
  ReplacementPolicy policy_;
};

template <class Evictable>
int CacheArray::victim(std::uint64_t block, Evictable evictable) const {
  const std::size_t first = first_way(block);
  for (int way = 0; way < ways_; ++way) {
    if (tags_[first + static_cast<std::size_t>(way)] == kEmpty) return way;
  }
  const auto way_is_evictable = [&](int way) { return evictable(copies_[first + static_cast<std::size_t>(way)]); };
  return std::visit([&](const auto& policy) { return policy.victim(set(block), way_is_evictable); }, policy_);
}

}  // namespace linebounce
