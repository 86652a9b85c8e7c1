// A lock: one file an algorithm, see README.md. What a program takes is a MeteredLock around one.
#pragma once

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

class Lock {
 public:
  virtual ~Lock() = default;

  // True if it had to wait. / False if it would have to; nothing is held then. (CLH waits in a rare case: see there.)
  virtual bool acquire(Cpu& cpu) = 0;
  virtual bool try_acquire(Cpu& cpu) = 0;
  // REQUIRES: this CPU holds it.
  virtual void release(Cpu& cpu) = 0;

  // A reader's side, for sections that write nothing that the lock protects. A lock without one lets readers in one by one.
  virtual bool acquire_shared(Cpu& cpu) { return acquire(cpu); }
  // False: a writer came between; forget what was read and begin again with acquire_shared.
  virtual bool release_shared(Cpu& cpu) {
    release(cpu);
    return true;
  }
};

}  // namespace linebounce::workloads
