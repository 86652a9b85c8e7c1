// Least recently used: the line whose latest use is the longest ago makes room. Its uses come with their ages, so that their
// order does not depend on the order of calls, and run-ahead can't change it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

class Lru {
 public:
  static constexpr std::string_view kName = "lru";
  static constexpr bool kByAges = true;

  Lru(std::size_t sets, int ways) : ways_(static_cast<std::size_t>(ways)), ages_(sets * ways_) {}

  void touch(std::size_t set, int way, Tick age) { ages_[index(set, way)] = age; }
  void touch_if_newer(std::size_t set, int way, Tick age) {
    if (ages_[index(set, way)] < age) touch(set, way, age);
  }

  template <class Evictable>
  [[nodiscard]] int victim(std::size_t set, Evictable evictable) const {
    int oldest = -1;
    for (int way = 0; way < static_cast<int>(ways_); ++way) {
      if (!evictable(way)) continue;
      if (oldest < 0 || ages_[index(set, way)] < ages_[index(set, oldest)]) oldest = way;
    }
    return oldest;
  }

 private:
  [[nodiscard]] std::size_t index(std::size_t set, int way) const { return set * ways_ + static_cast<std::size_t>(way); }

  std::size_t ways_;
  std::vector<Tick> ages_;  // by set and way
};

}  // namespace linebounce
