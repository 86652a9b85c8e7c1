// Which CPUs sleep, told in simulated memory: who waits for what a sleeping CPU holds had better sleep, too.
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

  // Not 0 while this CPU sleeps.
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
