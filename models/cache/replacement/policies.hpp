// All replacement policies, in the order of the enum `Replacement`. A policy is a class with a function victim(), which returns
// the way to evict, one for which evictable(way) is true, or -1 if there is none. A policy sees only age_of(way), the ages of
// latest uses, because run-ahead and parked spins change the order of calls.
#pragma once

#include "models/cache/replacement/lru.hpp"
#include "models/cache/replacement/tree_plru.hpp"
#include "models/machine_spec.hpp"

namespace linebounce {

template <class AgeOf, class Evictable>
[[nodiscard]] int victim_of(Replacement policy, int ways, AgeOf age_of, Evictable evictable) {
  switch (policy) {
    case Replacement::lru: break;
    case Replacement::tree_plru: return TreePlru::victim(ways, age_of, evictable);
  }
  return Lru::victim(ways, age_of, evictable);
}

}  // namespace linebounce
