// Exceptions for traces.
#pragma once

#include <stdexcept>

namespace linebounce::trace {

// A trace that can't be read or is inconsistent: exit code 3. what() names the file, the byte offset (in a text: the line) and,
// if known, stream and operation.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A trace that can't be written: exit code 2. what() names the file and the reason.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace linebounce::trace
