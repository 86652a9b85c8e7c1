// What the kernel workloads of this folder share: interrupts, RCU, per-CPU memory, and time that a CPU spends in other code.
#pragma once

#include <memory>

#include "workloads/counters/alloc_percpu.hpp"
#include "workloads/counters/counters.hpp"
#include "workloads/program/interrupts.hpp"
#include "workloads/program/random.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {

class KernelBase {
 public:
  KernelBase(const WorkloadSetup& setting, const RcuOptions& rcu, int percpu_bytes)
      : setting_(setting),
        user_(setting.memory.function("user", Mode::user)),
        interrupts_(setting.machine.cpus),
        percpu_(setting, percpu_bytes),
        rcu_(make_classic_rcu(setting, interrupts_, rcu)) {}

  [[nodiscard]] Rcu& rcu() { return *rcu_; }
  [[nodiscard]] const Rcu& rcu() const { return *rcu_; }
  [[nodiscard]] Interrupts& interrupts() { return interrupts_; }

  [[nodiscard]] CounterPlace counter_place(const std::string& name, std::optional<Address> word = {}) {
    return {.memory = setting_.memory,
            .locks = setting_.locks,
            .percpu = percpu_,
            .interrupts = interrupts_,
            .rcu = rcu_.get(),
            .name = name,
            .cpus = setting_.machine.cpus,
            .word = word};
  }

  // A random time, uniform from 1/2 to 3/2 of the mean, so that the CPUs do not run in lockstep.
  static std::int64_t around(Random& random, std::int64_t mean) {
    return mean / 2 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(mean) + 1));
  }
  // Computes in user mode: a clock tick that interrupts it finds user code.
  void compute_in_user_mode(Cpu& cpu, std::int64_t cycles) const {
    const FunctionScope scope(cpu, user_);
    cpu.compute(cycles);
    cpu.now();
  }

 private:
  WorkloadSetup setting_;
  FunctionId user_;
  Interrupts interrupts_;
  PerCpuAllocator percpu_;
  std::unique_ptr<Rcu> rcu_;
};

}  // namespace linebounce::workloads
