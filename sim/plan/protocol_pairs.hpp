// Checks before any simulation that a machine's protocols work together.
#pragma once

#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// A node's protocol may be combined with other bus protocols than those that it names (docs/protocols: `check NODE --bus
// BUS`). If all protocols are shipped ones, checks the smallest system that uses them all. Does not check a user's own
// protocol: `check` and the run itself report more about it. Errors: ConfigError, with the buses that fit, if a property does
// not hold.
void require_fitting_protocols(const SimulationInput& input);

}  // namespace linebounce::sim
