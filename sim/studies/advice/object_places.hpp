// Where a replay puts a trace's objects, without running it.
#pragma once

#include "sim/point/simulation_input.hpp"
#include "sim/studies/advice/byte_use.hpp"

namespace linebounce::sim {

// On this machine, with the recorded locks and layouts and the replay's workload.heap_shift. Errors: std::invalid_argument, as
// the replay itself.
ObjectPlaces object_places(const trace::Reader& reader, const SimulationInput& input);

}  // namespace linebounce::sim
