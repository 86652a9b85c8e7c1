// The interface of a lock algorithm. Each algorithm is one file (README.md). Programs use it through a MeteredLock.
#pragma once

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

class Lock {
 public:
  virtual ~Lock() = default;

  // acquire() returns true if it had to wait. try_acquire() returns false, without the lock, if it would have to wait. (CLH's
  // try_acquire() waits in a rare case; see programs/locks/clh.lua.)
  virtual bool acquire(Cpu& cpu) = 0;
  virtual bool try_acquire(Cpu& cpu) = 0;
  // REQUIRES: this CPU holds the lock.
  virtual void release(Cpu& cpu) = 0;

  // Acquires the lock as a reader, whose section must not write what the lock protects. By default, readers exclude each other
  // as writers do.
  virtual bool acquire_shared(Cpu& cpu) { return acquire(cpu); }
  // Returns false if a writer changed the data during the section. The caller must then discard what it has read and begin
  // again with acquire_shared().
  virtual bool release_shared(Cpu& cpu) {
    release(cpu);
    return true;
  }
};

}  // namespace linebounce::workloads
