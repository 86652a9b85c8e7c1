// A lock: one file an algorithm, see README.md.
#pragma once

#include "models/core/cpu.hpp"

namespace linebounce {

class Lock {
 public:
  virtual ~Lock() = default;
  virtual void acquire(Cpu& cpu) = 0;
  // REQUIRES: this CPU holds it.
  virtual void release(Cpu& cpu) = 0;
};

}  // namespace linebounce
