// Words in simulated memory that say which CPUs sleep. While a lock waits, it reads the holder's word: while the holder sleeps,
// the waiter should sleep, too.
#pragma once

#include <vector>

#include "workloads/locks/cpu_objects.hpp"

namespace linebounce::workloads {

class Sleepers {
 public:
  static constexpr int kBytes = 2;

  // REQUIRES: the simulation has not started.
  explicit Sleepers(CpuObjects& per_cpu)
      : words_(&per_cpu.shared({.name = "asleep", .size = 8, .fields = {{"asleep", 0, kBytes}}})) {}

  // The address of the word that is not 0 while this CPU sleeps.
  [[nodiscard]] Address word(int cpu) const { return (*words_)[static_cast<std::size_t>(cpu)]; }

  void sleep(Cpu& cpu) const {
    cpu.store(word(cpu.id().value), 1, kBytes);
    cpu.sleep();
    cpu.store(word(cpu.id().value), 0, kBytes);
  }

 private:
  const std::vector<Address>* words_;
};

}  // namespace linebounce::workloads
