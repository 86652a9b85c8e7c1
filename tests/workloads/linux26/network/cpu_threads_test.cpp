// How the CPU is shared when softirqs arrive faster than they are handled.
#include "workloads/linux26/network/cpu_threads.hpp"

#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"
#include "tests/workloads/run_workload.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr double kTickUs = 10;
constexpr double kRunUs = 20000;

// One CPU, ticks of 10 us, and a softirq of 5 us that an interrupt raises every 20 us. With `forever` it also raises itself, so
// that there is always another.
struct Loaded {
  Loaded(const CpuThreadsOptions& options, bool forever)
      : spec(small_machine(1)),
        small(spec, {}, 0, kRunUs),
        space(small.machine.store(), nullptr),
        locks(space, 1),
        interrupts(1),
        rcu(make_classic_rcu({space, locks, spec, small.machine.layout(), 1}, interrupts, {.tick_us = kTickUs})),
        threads({space, locks, spec, small.machine.layout(), 1}, interrupts, *rcu, options),
        tick_vector(interrupts.add_handler([this](Cpu& cpu, FunctionId) {
          cpu.set_timer(kTickUs * 1000, tick_vector);
          threads.tick(cpu);
          ++ticks;
          if (interrupts.in_softirq(cpu)) ++ticks_in_softirqs;
        })),
        vector(interrupts.add_handler([this](Cpu& cpu, FunctionId) {
          cpu.set_timer(20000, vector);
          interrupts.raise(cpu, softirq);
        })),
        softirq(interrupts.add_softirq([this, forever](Cpu& cpu) {
          cpu.compute(5000);
          cpu.now();
          if (forever) interrupts.raise(cpu, softirq);
        })) {}

  Metrics run() {
    small.machine.set_functions(space.functions().size());
    small.run({[this](Cpu& cpu) {
      rcu->start(cpu);
      cpu.set_timer(kTickUs * 1000, tick_vector);
      cpu.set_timer(20000, vector);
      threads.run(cpu);
    }});
    Metrics metrics;
    threads.figures().report(metrics);
    return metrics;
  }
  [[nodiscard]] double softirq_share() const { return static_cast<double>(ticks_in_softirqs) / static_cast<double>(ticks); }

  MachineSpec spec;
  SmallMachine small;
  AddressSpace space;
  LockSet locks;
  Interrupts interrupts;
  std::unique_ptr<Rcu> rcu;
  CpuThreads threads;
  int tick_vector;
  int vector;
  int softirq;
  std::int64_t ticks = 0, ticks_in_softirqs = 0;
};

CpuThreadsOptions one_process() {
  CpuThreadsOptions options;
  options.look_us = 1;
  options.process_slice_ticks = 20;
  options.ksoftirqd_slice_ticks = 5;
  return options;
}

TEST(CpuThreads, UnderALightLoadNoSoftirqIsLeftToKsoftirqd) {
  const Metrics metrics = Loaded(one_process(), false).run();
  EXPECT_EQ(metrics.values.at("softirq.left_to_ksoftirqd"), 0);
  EXPECT_LT(metrics.values.at("starvation.longest_ms"), 0.03);
}

// After ten softirq rounds of 5 us the process has the CPU until the next interrupt. After 20 ticks ksoftirqd gets the CPU
// for 5 ticks of 10 us.
TEST(CpuThreads, SoftirqsWithoutAnEndLeaveTheProcessLittle) {
  Loaded loaded(one_process(), true);
  const Metrics metrics = loaded.run();
  EXPECT_GT(metrics.values.at("softirq.left_to_ksoftirqd"), 0);
  EXPECT_GT(metrics.values.at("starvation.longest_ms"), 0.05);
  EXPECT_GT(loaded.softirq_share(), 0.8);
}

// Ten rounds would take 50 us, and the next interrupt comes after 20. A single round leaves the process time: softirqs run
// for 5 us after each interrupt and each clock tick.
TEST(CpuThreads, FewerRoundsAfterAnInterruptLeaveTheProcessMore) {
  CpuThreadsOptions options = one_process();
  options.softirq_rounds = 1;
  Loaded loaded(options, true);
  loaded.run();
  EXPECT_GT(loaded.softirq_share(), 0.3);
  EXPECT_LT(loaded.softirq_share(), 0.75);
}

TEST(CpuThreads, AQuotaLeavesTheProcessTheRestOfEachTenMilliseconds) {
  CpuThreadsOptions options = one_process();
  options.ksoftirqd_slice_ticks = 1;
  options.process_slice_ticks = 10000;
  options.softirq_quota_pct = 20;
  Loaded loaded(options, true);
  loaded.run();
  EXPECT_GT(loaded.softirq_share(), 0.1);
  EXPECT_LT(loaded.softirq_share(), 0.3);
}

TEST(CpuThreads, WithoutAProcessKsoftirqdGetsTheCpuImmediately) {
  CpuThreadsOptions options = one_process();
  options.processes = 0;
  Loaded loaded(options, true);
  const Metrics metrics = loaded.run();
  EXPECT_EQ(metrics.values.at("softirq.left_to_ksoftirqd"), 1);
  EXPECT_GT(loaded.softirq_share(), 0.95);
}

}  // namespace
}  // namespace linebounce::test
