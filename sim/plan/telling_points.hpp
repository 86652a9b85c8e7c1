// Tries points of a sweep before it runs.
#pragma once

#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/plan/process_pool.hpp"

namespace linebounce::sim {

// Sets up telling points of a sweep, so that what a machine or workload refuses is refused before a file is written: a
// directory that holds some finished points of a refused configuration would block the corrected one. A refusal that takes two
// values together may be met in the run alone. Without a sweep nothing can have finished. Errors: ConfigError.
void check_points(const Plan& plan, const std::vector<int>& numbers, int at_once, InterruptGuard& guard);

}  // namespace linebounce::sim
