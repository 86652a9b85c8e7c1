// Checks before any simulation that a machine's protocols work together.
#pragma once

#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// A node's table may run between other partners than those that it names (docs/protocols: `check NODE --bus BUS`). If all
// protocols are shipped ones, checks the smallest system that has every part. A user's own protocol is not checked here,
// because `check` and the run say more about it. Errors: ConfigError with the buses that fit, if the check finds a broken
// promise.
void require_fitting_protocols(const SimulationInput& input);

}  // namespace linebounce::sim
