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

  void touch(int place, Tick) {
    const Path& path = paths_[static_cast<std::size_t>(place & (ways() - 1))];
    std::uint32_t& tree = trees_[set(place)];
    tree = (tree & ~path.nodes) | path.colder;
  }
  void touch_if_newer(int place, Tick age) { touch(place, age); }

  // Where the tree's choice can't go, the first that can.
  template <class Evictable>
  [[nodiscard]] int victim(int first, Evictable evictable) const {
    const int choice = first + coldest(set(first));
    if (evictable(choice)) return choice;
    for (int place = first; place < first + ways(); ++place) {
      if (evictable(place)) return place;
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
  [[nodiscard]] std::size_t set(int place) const { return static_cast<std::size_t>(place) >> way_bits_; }
  [[nodiscard]] Path path_of(int way) const;
  [[nodiscard]] int coldest(std::size_t set) const;

  int way_bits_;
  std::vector<Path> paths_;           // by way
  std::vector<std::uint32_t> trees_;  // by set; bit 1 is the root's, bits 2n and 2n + 1 are those of the children of node n
};

}  // namespace linebounce
