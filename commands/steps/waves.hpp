// Writes a run's waveforms: each bus's owner, the requests that wait for each bus, messages on each link, and the costliest
// lines' state in each cache.
#pragma once

#include <filesystem>
#include <functional>

#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// Runs the point twice, the first time to find the lines whose misses cost most. `file` must end in ".vcd". `progress` is
// called now and then with the share done, 0 to 1. Errors: as simulate().
void write_waves(const SimulationInput& input, const std::filesystem::path& file, const std::function<void(double)>& progress);

}  // namespace linebounce::sim
