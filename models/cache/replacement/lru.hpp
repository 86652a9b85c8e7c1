// Least recently used: the line whose latest use is the longest ago makes room. Its uses come with their ages, so that their
// order does not depend on the order of calls, and run-ahead can't change it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

class Lru {
 public:
  static constexpr std::string_view kName = "lru";
  static constexpr bool kByAges = true;

  Lru(std::size_t sets, int ways) : ways_(ways), ages_(sets * static_cast<std::size_t>(ways)) {}

  void touch(int place, Tick age) { ages_[static_cast<std::size_t>(place)] = age; }
  void touch_if_newer(int place, Tick age) {
    if (ages_[static_cast<std::size_t>(place)] < age) touch(place, age);
  }

  template <class Evictable>
  [[nodiscard]] int victim(int first, Evictable evictable) const {
    // The oldest of all is seldom refused.
    const auto ages = ages_.begin() + first;
    const int coldest = first + static_cast<int>(std::min_element(ages, ages + ways_) - ages);
    if (evictable(coldest)) return coldest;
    int oldest = -1;
    for (int place = first; place < first + ways_; ++place) {
      if (!evictable(place)) continue;
      if (oldest < 0 || ages_[static_cast<std::size_t>(place)] < ages_[static_cast<std::size_t>(oldest)]) oldest = place;
    }
    return oldest;
  }

 private:
  int ways_;
  std::vector<Tick> ages_;  // by place
};

}  // namespace linebounce
