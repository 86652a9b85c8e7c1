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

// A configuration file or folder that the system can't read, for example on a broken disk: exit code 3. Its content may be
// correct.
class UnreadableConfig : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace linebounce::sim
