// Tree pseudo-LRU. Hardware keeps one bit per tree node. Each use of a way points the bits on its path away from the way, so a
// bit points at the half used longer ago. This class derives the bits from the ages. The number of ways is a power of two.
#pragma once

#include <algorithm>

#include "models/units.hpp"

namespace linebounce {

struct TreePlru {
  // Returns the way that the tree chooses, or the first evictable way if that one is not evictable, or -1 if none is.
  template <class AgeOf, class Evictable>
  [[nodiscard]] static int victim(int ways, AgeOf age_of, Evictable evictable) {
    const int choice = coldest(ways, age_of);
    if (evictable(choice)) return choice;
    for (int way = 0; way < ways; ++way) {
      if (evictable(way)) return way;
    }
    return -1;
  }

 private:
  template <class AgeOf>
  [[nodiscard]] static int coldest(int ways, AgeOf age_of) {
    int first = 0;  // first way of the current subtree
    for (int half = ways / 2; half > 0; half /= 2) {
      Tick of_lower = age_of(first);
      Tick of_upper = age_of(first + half);
      for (int way = 1; way < half; ++way) {
        of_lower = std::max(of_lower, age_of(first + way));
        of_upper = std::max(of_upper, age_of(first + half + way));
      }
      first += of_upper < of_lower ? half : 0;
    }
    return first;
  }
};

}  // namespace linebounce
