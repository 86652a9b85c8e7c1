// Waits of user programs in the kernel, as Linux's futexes: a thread sleeps as long as a word has the value that it has seen,
// until another wakes it. Who waits stands in queues that words share by their addresses, each under a lock of its own.
#pragma once

#include <vector>

#include "workloads/locks/cpu_objects.hpp"
#include "workloads/locks/sleepers.hpp"

namespace linebounce::workloads {

class Futexes {
 public:
  // Those of a run. REQUIRES: the simulation has not started.
  static Futexes& of(CpuObjects& per_cpu);
  explicit Futexes(CpuObjects& per_cpu);

  // Sleeps until wake() of this word, if the word has this value; returns false at once if it has another. Leaves the CPU a
  // wake-up, because it may have consumed one that was meant for the program.
  bool wait(Cpu& cpu, Cpu::Word word, Value expected) const;
  // Wakes the `most` CPUs that have waited longest for this word; returns how many there were.
  int wake(Cpu& cpu, Address word, int most) const;

 private:
  [[nodiscard]] Address queue_of(Address word) const;
  [[nodiscard]] Address waiter(Value number) const { return (*waiters_)[number - 1]; }

  std::vector<Address> queues_;
  const std::vector<Address>* waiters_;  // of each CPU, which waits for one word at a time
  Sleepers sleepers_;
};

}  // namespace linebounce::workloads
