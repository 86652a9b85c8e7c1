// A hardware thread's counters, one set for each function of its program. Plain integers, because every hit updates them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/machine_spec.hpp"
#include "models/observer.hpp"

namespace linebounce {

struct FunctionCounters {
  std::int64_t instructions = 0;
  std::int64_t misses = 0;
  std::array<std::array<std::int64_t, kAccessKinds>, kMostLevels> hits{};  // indexed by [level][kind of access]
  std::int64_t& hits_of(int level, AccessKind kind) { return hits[level][static_cast<int>(kind)]; }
};

// A thread's misses in its core's data TLB and instruction cache (models/core/footprint.hpp).
struct FootprintMisses {
  std::int64_t pages = 0;
  std::int64_t code_lines = 0;
};

// A thread's counters. The vectors are indexed by FunctionId.
struct ThreadCounters {
  std::vector<FunctionCounters> by_function;
  std::vector<Tick> time_in_function;      // ticks within the measured time, sleep excluded
  std::vector<FootprintMisses> footprint;  // empty if the machine has no Footprint
  Tick asleep = 0;
};

}  // namespace linebounce
