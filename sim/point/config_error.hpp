// Errors in configurations.
#pragma once

#include <stdexcept>

namespace linebounce::sim {

// A mistake in a configuration file or on the command line: exit code 2. what() is complete and ready for the user:
// "FILE:LINE:COLUMN: KEY: what is wrong; legal values; did you mean ...".
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The system can't read a file or folder, as on a broken disk, but its content may be correct: exit code 3.
class UnreadableConfig : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace linebounce::sim
