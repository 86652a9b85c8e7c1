// Least recently used: evicts the way whose latest use is the oldest.
#pragma once

namespace linebounce {

struct Lru {
  template <class AgeOf, class Evictable>
  [[nodiscard]] static int victim(int ways, AgeOf age_of, Evictable evictable) {
    // Tries the way with the oldest use first, because it is nearly always evictable.
    int coldest = 0;
    auto least = age_of(0);
    for (int way = 1; way < ways; ++way) {
      const auto age = age_of(way);
      coldest = age < least ? way : coldest;
      least = age < least ? age : least;
    }
    if (evictable(coldest)) return coldest;
    int oldest = -1;
    for (int way = 0; way < ways; ++way) {
      if (evictable(way) && (oldest < 0 || age_of(way) < age_of(oldest))) oldest = way;
    }
    return oldest;
  }
};

}  // namespace linebounce
