// The replacement policies that there are, in the order of Replacement. A policy is a class with what Lru has: its name;
// whether it goes by the ages of uses alone; touch, which is on the path of a hit and therefore no virtual call; and the choice
// of a victim among the places of the set that begins at `first` for which evictable(place) holds, or -1.
#pragma once

#include <array>
#include <string_view>
#include <variant>

#include "models/cache/replacement/lru.hpp"
#include "models/cache/replacement/tree_plru.hpp"
#include "models/machine_spec.hpp"

namespace linebounce {

using ReplacementPolicy = std::variant<Lru, TreePlru>;

inline constexpr std::array kReplacementNames = {Lru::kName, TreePlru::kName};

inline ReplacementPolicy make_replacement(Replacement which, std::size_t sets, int ways) {
  switch (which) {
    case Replacement::lru: break;
    case Replacement::tree_plru: return TreePlru(sets, ways);
  }
  return Lru(sets, ways);
}

}  // namespace linebounce
