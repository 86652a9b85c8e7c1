// Pseudo-LRU by a tree: each node has one bit, which names the half that was used longer ago. It goes by the order of calls.
// Ways are a power of two.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

class TreePlru {
 public:
  static constexpr std::string_view kName = "tree_plru";
  static constexpr bool kByAges = false;
  static constexpr int kMostWays = 32;  // one bit per tree node in one word

  TreePlru(std::size_t sets, int ways);

  void touch(std::size_t set, int way, Tick) {
    const Path& path = paths_[static_cast<std::size_t>(way)];
    trees_[set] = (trees_[set] & ~path.nodes) | path.colder;
  }
  void touch_if_newer(std::size_t set, int way, Tick age) { touch(set, way, age); }

  // Where the tree's choice can't go, the first that can.
  template <class Evictable>
  [[nodiscard]] int victim(std::size_t set, Evictable evictable) const {
    const int choice = coldest(set);
    if (evictable(choice)) return choice;
    for (int way = 0; way < ways(); ++way) {
      if (evictable(way)) return way;
    }
    return -1;
  }

 private:
  // The nodes on a way's path, and what a use leaves in them: each names the half that was not used.
  struct Path {
    std::uint32_t nodes = 0;
    std::uint32_t colder = 0;
  };
  [[nodiscard]] int ways() const { return static_cast<int>(paths_.size()); }
  [[nodiscard]] Path path_of(int way) const;
  [[nodiscard]] int coldest(std::size_t set) const;

  std::vector<Path> paths_;           // by way
  std::vector<std::uint32_t> trees_;  // by set; bit 1 is the root's, bits 2n and 2n + 1 are those of the children of node n
};

}  // namespace linebounce
