// The model contradicts itself: a stale value, an impossible transition, a broken invariant, a deadlock. The run stops at once.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace linebounce {

class ModelFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Takes what goes wrong inside a process; SystemC would lose its type.
class FailureSink {
 public:
  virtual ~FailureSink() = default;
  virtual void failed(std::exception_ptr failure) = 0;
};

}  // namespace linebounce
