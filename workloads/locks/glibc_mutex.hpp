// The mutex of glibc on x86-64, as part of a lock.
#pragma once

#include "workloads/locks/futexes.hpp"

namespace linebounce::workloads {

class GlibcMutex {
 public:
  static constexpr int kBytes = 4;  // of the word, and of the owner behind it

  // `word`: 8 bytes of zeroes.
  GlibcMutex(Address word, CpuObjects& per_cpu)
      : word_{word, kBytes}, owner_(word + kBytes), alone_(per_cpu.cpus() == 1), futexes_(&Futexes::of(per_cpu)) {}

  // REQUIRES after false: wait().
  [[nodiscard]] bool lock_at_once(Cpu& cpu) const;
  void wait(Cpu& cpu) const;
  [[nodiscard]] bool try_lock(Cpu& cpu) const;
  void unlock(Cpu& cpu) const;

  void lock(Cpu& cpu) const {
    if (!lock_at_once(cpu)) wait(cpu);
  }

 private:
  void keep(Cpu& cpu) const;

  Cpu::Word word_;
  Address owner_;  // stands for the other members in the word's line: lock() reads the kind, and writes owner and users
  bool alone_;
  const Futexes* futexes_;
};

}  // namespace linebounce::workloads
