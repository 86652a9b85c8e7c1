// The one error of reading configurations.
#pragma once

#include <stdexcept>

namespace linebounce::sim {

// Something in a configuration file or on the command line that can't be used: exit code 2. what() is complete and ready for a
// user: "FILE:LINE:COLUMN: KEY: what is wrong; legal values; did you mean ...".
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace linebounce::sim
