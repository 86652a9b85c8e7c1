// Repeats an answer's comparison with other values from the range of the machine's contention family.
#pragma once

#include "sim/plan/run_plan.hpp"

namespace linebounce::sim {

// For a user's own machine, after all points have run: repeats the comparison with other values from the family's range, and
// adds to the report's answer whether the order survives. `progress`: whether to show a progress line. Errors: ConfigError,
// OutputError.
void add_family_range(const Plan& plan, RunOptions options, bool progress, RunReport& report);

}  // namespace linebounce::sim
