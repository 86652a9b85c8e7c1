// Simulations in processes of their own, for figures that a fit wants.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// The user asked to stop while candidates were simulated.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// A workload's defaults with these in their place. REQUIRES: it has them.
workloads::Parameters parameters_with(const std::string& workload,
                                      const std::map<std::string, workloads::ParameterValue>& changed);

// Each input in a process of its own, `at_once` at a time. `keep` runs in that process, and leaves what is wanted in shared
// memory (SharedArray). `tick` is called several times a second with the number of those that have ended. Errors: ConfigError
// for a machine that can't be built; SimulationFailure; Interrupted.
void simulate_apart(
    const std::vector<SimulationInput>& inputs, int at_once,
    const std::function<void(std::size_t number, const PointData&)>& keep,
    const std::function<void(int ended)>& tick = [](int) {});

}  // namespace linebounce::sim
