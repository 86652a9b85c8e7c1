// `linebounce calibrate`, for `import`, too.
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
  std::optional<int> mhz;  // of a file that counts in cycles
  std::string topology;    // read_structure()'s file; empty: the matrix shows it
  int at_once = 1;
};

// Reads lscpu's or lstopo's file, or one with NUMA nodes. Errors: ConfigError, TraceError.
MachineTopology read_structure(const std::string& file);

// Fits a machine, writes it and prints how well it fits. Errors: ConfigError.
ExitCode run_calibrate(const CalibrateArguments& arguments);

}  // namespace linebounce::sim
