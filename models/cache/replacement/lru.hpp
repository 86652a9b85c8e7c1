// Least recently used: the line whose latest use is the longest ago makes room.
#pragma once

#include <algorithm>
#include <span>

#include "models/units.hpp"

namespace linebounce {

struct Lru {
  template <class Evictable>
  [[nodiscard]] static int victim(std::span<const Tick> ages, Evictable evictable) {
    // The oldest of all is seldom refused.
    const int coldest = static_cast<int>(std::min_element(ages.begin(), ages.end()) - ages.begin());
    if (evictable(coldest)) return coldest;
    int oldest = -1;
    for (int way = 0; way < static_cast<int>(ages.size()); ++way) {
      if (!evictable(way)) continue;
      if (oldest < 0 || ages[static_cast<std::size_t>(way)] < ages[static_cast<std::size_t>(oldest)]) oldest = way;
    }
    return oldest;
  }
};

}  // namespace linebounce
