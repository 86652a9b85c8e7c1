// Writes a run's waveforms: the core that has each bus, the requests that wait for the bus, the messages on each link, and the
// state of the costliest lines in each cache.
#pragma once

#include <filesystem>
#include <functional>

#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// Runs the point twice, first to find the lines whose misses cost most. The name of `file` ends with ".vcd". `progress` is
// called from time to time with the share done, 0 to 1. Errors: as simulate().
void write_waves(const SimulationInput& input, const std::filesystem::path& file, const std::function<void(double)>& progress);

}  // namespace linebounce::sim
