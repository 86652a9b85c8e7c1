// Makes many simulations of one machine and reads its files only once. Only the fuzzer uses it, so it is not installed.
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
