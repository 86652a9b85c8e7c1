// One level of a cache: tags, which copy each way holds, and replacement. It knows nothing of states, values or time: an "age"
// is any number that grows with use, and LRU depends on ages alone, never on the order of calls.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "models/machine_spec.hpp"
#include "models/units.hpp"

namespace linebounce {

using CopyIndex = std::uint32_t;  // a copy of a line in its CacheAgent
constexpr CopyIndex kNoCopy = 0xFFFFFFFF;

// tree-PLRU keeps one bit per tree node in one word.
constexpr int kMostTreeWays = 32;

class CacheArray {
 public:
  // REQUIRES: a spec that sim/config accepted: sets and line_bytes are powers of two.
  explicit CacheArray(const CacheSpec& spec);

  [[nodiscard]] int line_shift() const { return line_shift_; }
  [[nodiscard]] int ways() const { return ways_; }

  // The way that holds `block` (an address divided by this level's line size), or -1.
  [[nodiscard]] int find(std::uint64_t block) const {
    const std::uint64_t* tags = &tags_[first_way(block)];
    for (int way = 0; way < ways_; ++way) {
      if (tags[way] == block) return way;
    }
    return -1;
  }

  [[nodiscard]] CopyIndex copy(std::uint64_t block, int way) const { return copies_[index(block, way)]; }

  void touch(std::uint64_t block, int way, Tick age) {
    if (replacement_ == Replacement::lru) {
      ages_[index(block, way)] = age;
    } else {
      const TreePath& path = paths_[static_cast<std::size_t>(way)];
      std::uint32_t& tree = trees_[set(block)];
      tree = (tree & ~path.nodes) | path.colder;
    }
  }

  // The same for a use that may lie before the latest: an age never goes back.
  void touch_if_newer(std::uint64_t block, int way, Tick age) {
    if (replacement_ == Replacement::lru && ages_[index(block, way)] >= age) return;
    touch(block, way, age);
  }

  // The way to fill: a free one, else the replacement policy's choice among those for which `evictable(copy)` holds; -1 if
  // none.
  template <class Evictable>
  [[nodiscard]] int victim(std::uint64_t block, Evictable evictable) const;

  [[nodiscard]] std::uint64_t block_at(std::uint64_t block, int way) const { return tags_[index(block, way)]; }
  void insert(std::uint64_t block, int way, CopyIndex copy, Tick age) {
    tags_[index(block, way)] = block;
    copies_[index(block, way)] = copy;
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
  struct TreePath {
    std::uint32_t nodes = 0;
    std::uint32_t colder = 0;
  };
  [[nodiscard]] TreePath tree_path(int way) const;
  [[nodiscard]] int tree_choice(std::uint64_t block) const;

  int line_shift_;
  int ways_;
  std::uint64_t set_mask_;
  Replacement replacement_;
  std::vector<std::uint64_t> tags_;
  std::vector<CopyIndex> copies_;
  std::vector<Tick> ages_;            // LRU
  std::vector<TreePath> paths_;       // by way
  std::vector<std::uint32_t> trees_;  // tree-PLRU: one bit per tree node, node 1 is the root; the bit names the colder half
};

template <class Evictable>
int CacheArray::victim(std::uint64_t block, Evictable evictable) const {
  const std::size_t first = first_way(block);
  for (int way = 0; way < ways_; ++way) {
    if (tags_[first + static_cast<std::size_t>(way)] == kEmpty) return way;
  }
  int best = -1;
  if (replacement_ == Replacement::tree_plru) {
    best = tree_choice(block);
    if (evictable(copies_[first + static_cast<std::size_t>(best)])) return best;
    best = -1;
  }
  for (int way = 0; way < ways_; ++way) {
    const std::size_t at = first + static_cast<std::size_t>(way);
    if (!evictable(copies_[at])) continue;
    if (replacement_ == Replacement::tree_plru) return way;
    if (best < 0 || ages_[at] < ages_[first + static_cast<std::size_t>(best)]) best = way;
  }
  return best;
}

}  // namespace linebounce
