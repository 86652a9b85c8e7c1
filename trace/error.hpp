// Exceptions for traces.
#pragma once

#include <stdexcept>

namespace linebounce::trace {

// A trace that cannot be read, or makes no sense. what() names the file, the byte offset (for a text, the line) and, if known,
// stream and operation. The program ends with exit code 3.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A trace that cannot be written: what() names the file and why. Exit code 2.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace linebounce::trace
