// Simulations of a machine whose files are read once. Not installed: for the fuzzer, which makes thousands of a machine.
#pragma once

#include <memory>

#include "library/include/linebounce/linebounce.hpp"
#include "sim/config/machine_files.hpp"

namespace linebounce::library {

class SimulationMaker {
 public:
  // Errors: ConfigError, for a machine that can't be simulated.
  static std::unique_ptr<Simulation> make(const sim::MachineFiles& files);
};

}  // namespace linebounce::library
