// Tree pseudo-LRU. Hardware keeps one bit per tree node. Each use of a way points the bits on its path away from the way, so a
// bit points at the half used longer ago. This class derives the bits from the ages. The number of ways is a power of two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "models/units.hpp"

namespace linebounce {

struct TreePlru {
  // Returns the way that the tree chooses, or the first evictable way if that one is not evictable, or -1 if none is.
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
