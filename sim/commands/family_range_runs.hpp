// Repeats an answer's comparison with other values from the range of the machine's contention family.
#pragma once

#include "sim/plan/run_plan.hpp"

namespace linebounce::sim {

// For a machine of the user's own, after a run of all points: repeats the comparison with other values of the family's range,
// and adds to the report's answer whether the order survives. `progress`: show a progress line. Errors: ConfigError,
// OutputError.
void add_family_range(const Plan& plan, RunOptions options, bool progress, RunReport& report);

}  // namespace linebounce::sim
