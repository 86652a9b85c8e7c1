// Pseudo-LRU by a tree over the ways. Hardware has a bit for each node, which a use of either half points at the other; so it
// names the half whose latest use is the longer ago, and the ages say the same. Ways are a power of two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "models/units.hpp"

namespace linebounce {

struct TreePlru {
  // Where the tree's choice can't go, the first that can.
  template <class Evictable>
  [[nodiscard]] static int victim(std::span<const Tick> ages, Evictable evictable) {
    const int choice = coldest(ages);
    if (evictable(choice)) return choice;
    for (int way = 0; way < static_cast<int>(ages.size()); ++way) {
      if (evictable(way)) return way;
    }
    return -1;
  }

 private:
  [[nodiscard]] static int coldest(std::span<const Tick> ages) {
    const Tick* half = ages.data();
    for (std::size_t ways = ages.size() / 2; ways > 0; ways /= 2) {
      Tick of_lower = half[0];
      Tick of_upper = half[ways];
      for (std::size_t way = 1; way < ways; ++way) {
        of_lower = std::max(of_lower, half[way]);
        of_upper = std::max(of_upper, half[ways + way]);
      }
      half += of_upper < of_lower ? ways : 0;
    }
    return static_cast<int>(half - ages.data());
  }
};

}  // namespace linebounce
