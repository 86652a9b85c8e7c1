// Puts a real processor's caches into a machine, which has private caches of each core and one behind each bus.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "commands/calibrate/fitted_tables.hpp"
#include "commands/calibrate/probe_file.hpp"

namespace linebounce::sim {

struct PlacedCaches {
  // The private caches that the machine got: the table of each, "machine.cache.L2.", and the cache.
  std::vector<std::pair<std::string, const ProbedCache*>> own;
  const ProbedCache* shared = nullptr;  // the cache behind the bus; null: none
  std::vector<std::string> notes;       // sentences on what the machine cannot represent
};

// True if the caches are those of level 1 and on, without gaps.
bool has_all_levels(const std::vector<ProbedCache>& caches);

// Sets sizes, ways and lines as far as they are stated (not 0). `keep_structure`: keep the number of private caches, as where
// levels are missing. Those that are missing keep their values.
// REQUIRES: `caches` is sorted by level, and outlives the result.
PlacedCaches place_caches(FittedTables& machine, const std::vector<ProbedCache>& caches, bool keep_structure);

}  // namespace linebounce::sim
