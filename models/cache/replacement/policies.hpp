// The replacement policies that there are, in the order of Replacement. A policy is a class with what Lru has: the
// choice of a victim among a set's ways for which evictable(way) holds, or -1. It goes by the ages of their latest uses alone,
// never by the order of calls: run-ahead and parked spins change that order.
#pragma once

#include <span>

#include "models/cache/replacement/lru.hpp"
#include "models/cache/replacement/tree_plru.hpp"
#include "models/machine_spec.hpp"

namespace linebounce {

template <class Evictable>
[[nodiscard]] int victim_of(Replacement policy, std::span<const Tick> ages, Evictable evictable) {
  switch (policy) {
    case Replacement::lru: break;
    case Replacement::tree_plru: return TreePlru::victim(ages, evictable);
  }
  return Lru::victim(ages, evictable);
}

}  // namespace linebounce
