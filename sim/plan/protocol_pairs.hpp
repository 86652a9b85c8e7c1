// Whether the protocols that a machine names work together, found out before anything is simulated.
#pragma once

#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// A node's table may run between other partners than those that it names (docs/protocols: `check NODE --bus BUS`). If they all
// ship, the smallest system that has every part is checked. A protocol of the user's own is left to `check` and to the run,
// which say more. Errors: ConfigError with the buses that fit, where that check finds a broken promise.
void require_fitting_protocols(const SimulationInput& input);

}  // namespace linebounce::sim
