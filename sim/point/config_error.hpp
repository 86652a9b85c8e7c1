// Errors in configurations.
#pragma once

#include <stdexcept>

namespace linebounce::sim {

// Something in a configuration file or on the command line can't be used: exit code 2. what() is complete and ready for a user:
// "FILE:LINE:COLUMN: KEY: what is wrong; legal values; did you mean ...".
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A file or folder that may be correct, but that the system can't read, as on a broken disk: exit code 3.
class UnreadableConfig : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace linebounce::sim
