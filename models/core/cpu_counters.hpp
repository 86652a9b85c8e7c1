// What a hardware thread counts for each function of its program. Plain integers, as a hit updates them.
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
  std::array<std::array<std::int64_t, kAccessKinds>, kMostLevels> hits{};  // [level][access]
  std::int64_t& hits_of(int level, AccessKind kind) { return hits[level][static_cast<int>(kind)]; }
};

// Misses in the core's footprint of pages and code (models/core/footprint.hpp).
struct FootprintMisses {
  std::int64_t pages = 0;
  std::int64_t code_lines = 0;
};

// Vectors are indexed by FunctionId.
struct ThreadCounters {
  std::vector<FunctionCounters> by_function;
  std::vector<Tick> time_in_function;      // within the measured time, without sleep
  std::vector<FootprintMisses> footprint;  // empty if the machine has no footprint
  Tick asleep = 0;
};

}  // namespace linebounce
