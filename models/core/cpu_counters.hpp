// What a hardware thread counts, by function of its program. Plain integers on the path of a hit.
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
};

// What the core's footprint of pages and code lacked (models/core/footprint.hpp).
struct FootprintMisses {
  std::int64_t pages = 0;
  std::int64_t code_lines = 0;
};

struct ThreadCounters {
  std::vector<FunctionCounters> by_function;  // by FunctionId
  std::vector<Tick> time_in_function;         // by FunctionId, within the measured time; sleep left out
  std::vector<FootprintMisses> footprint;     // by FunctionId; empty: the machine has none
  Tick asleep = 0;
};

}  // namespace linebounce
