// Least recently used: evicts the way whose latest use is the oldest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "models/units.hpp"

namespace linebounce {

struct Lru {
  template <class Evictable>
  [[nodiscard]] static int victim(std::span<const Tick> ages, Evictable evictable) {
    // A shortcut: the way used longest ago is nearly always evictable.
    const auto coldest = static_cast<int>(std::min_element(ages.begin(), ages.end()) - ages.begin());
    if (evictable(coldest)) return coldest;
    int oldest = -1;
    Tick oldest_age = 0;
    int way = 0;
    for (const Tick age : ages) {
      if (evictable(way) && (oldest < 0 || age < oldest_age)) {
        oldest = way;
        oldest_age = age;
      }
      ++way;
    }
    return oldest;
  }
};

}  // namespace linebounce
