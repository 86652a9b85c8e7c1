// `linebounce calibrate`, which `import` calls, too.
#pragma once

#include <optional>
#include <string>

#include "sim/plan/exit_code.hpp"
#include "sim/sources/machine_topology.hpp"

namespace linebounce::sim {

struct CalibrateArguments {
  std::string from;
  std::string as;  // the form of `from`; empty: by its content
  std::string machine;
  std::string output;
  std::string access = "atomic";
  std::string family;
  std::optional<int> mhz;  // the clock of the CPU, for a file in cycles
  std::string topology;    // the file for read_structure(); empty: derive the structure from the matrix
  int at_once = 1;
};

// Reads the structure of a machine from the output of lscpu or lstopo, or from a file that lists NUMA nodes. Errors:
// ConfigError, TraceError.
MachineTopology read_structure(const std::string& file);

// Fits a machine, writes it and prints how well it fits. Errors: ConfigError.
ExitCode run_calibrate(const CalibrateArguments& arguments);

}  // namespace linebounce::sim
