// The model contradicts itself: a stale value, an impossible transition, a broken invariant, a deadlock. The run stops at once.
#pragma once

#include <stdexcept>
#include <string>

namespace linebounce {

class ModelFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace linebounce
