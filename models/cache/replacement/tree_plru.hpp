// Pseudo-LRU by a tree over the ways. Hardware has a bit for each node, which a use of either half points at the other; so it
// names the half whose latest use is the longer ago, and the ages say the same. Ways are a power of two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "models/units.hpp"

namespace linebounce {

struct TreePlru {
  static constexpr std::string_view kName = "tree_plru";

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
    const Tick* const first = ages.data();
    while (ages.size() > 1) {
      const auto lower = ages.first(ages.size() / 2);
      const auto upper = ages.subspan(ages.size() / 2);
      const Tick of_lower = *std::max_element(lower.begin(), lower.end());
      const Tick of_upper = *std::max_element(upper.begin(), upper.end());
      ages = of_upper < of_lower ? upper : lower;
    }
    return static_cast<int>(ages.data() - first);
  }
};

}  // namespace linebounce
