// Checks, before any simulation, that the protocols of a machine work together.
#pragma once

#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// A node's table may run between other partners than those that it names (docs/protocols: `check NODE --bus BUS`). If they all
// ship, this checks the smallest system with every part. A user's own protocol is left to `check` and to the run, which say
// more. Errors: ConfigError with the buses that fit, if that check finds a broken promise.
void require_fitting_protocols(const SimulationInput& input);

}  // namespace linebounce::sim
