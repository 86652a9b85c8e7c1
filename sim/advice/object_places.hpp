// Where a replay puts a trace's objects, without running it.
#pragma once

#include "sim/advice/byte_use.hpp"
#include "sim/simulation/simulate.hpp"

namespace linebounce {

// On this machine, with the recorded locks and layouts. Errors: std::invalid_argument, as the replay itself.
ObjectPlaces object_places(const trace::Reader& reader, const SimulationInput& input);

}  // namespace linebounce
