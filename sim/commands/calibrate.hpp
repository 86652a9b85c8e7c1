// `linebounce calibrate`, for `import`, too.
#pragma once

#include <optional>
#include <string>

#include "sim/plan/exit_code.hpp"

namespace linebounce::sim {

struct CalibrateArguments {
  std::string from;
  std::string as;  // the form of `from`; empty: by its content
  std::string machine;
  std::string output;
  std::string access = "atomic";
  std::string family;
  std::optional<int> mhz;  // of a file that counts in cycles
  std::string topology;    // lscpu's or lstopo's file, which tells the structure; empty: the matrix shows it
  int at_once = 1;
};

// Fits a machine, writes it and prints how well it fits. Errors: ConfigError.
ExitCode run_calibrate(const CalibrateArguments& arguments);

}  // namespace linebounce::sim
