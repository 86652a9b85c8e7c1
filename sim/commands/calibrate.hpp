// `linebounce calibrate`. `import` calls it, too.
#pragma once

#include <optional>
#include <string>

#include "sim/plan/exit_code.hpp"
#include "sim/sources/machine_topology.hpp"

namespace linebounce::sim {

struct CalibrateArguments {
  std::string from;
  std::string as;  // the form of the file `from`; empty: recognised by its content
  std::string machine;
  std::string output;
  std::string access = "atomic";
  std::string family;
  std::optional<int> mhz;  // CPU clock in MHz, for a file that counts cycles
  std::string topology;    // a file for read_structure(); empty: the structure is derived from the matrix
  int at_once = 1;
};

// Reads a machine's structure from the output of lscpu or lstopo, or from a list of NUMA nodes. Errors: ConfigError,
// TraceError.
MachineTopology read_structure(const std::string& file);

// Fits a machine, writes it and prints how well it fits. Errors: ConfigError.
ExitCode run_calibrate(const CalibrateArguments& arguments);

}  // namespace linebounce::sim
