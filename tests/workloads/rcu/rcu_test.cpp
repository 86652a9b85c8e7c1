// RCU, classic and hierarchical: a grace period outlasts every reader that may see the removed object; callbacks run once each,
// on their own CPU.
#include "workloads/rcu/rcu.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <vector>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr double kTickUs = 20;

class Kernel {
 public:
  explicit Kernel(const MachineSpec& spec, std::uint64_t seed = 1, const RcuOptions& parameters = {.tick_us = kTickUs},
                  const std::optional<TreeRcuOptions>& tree = {})
      : cpus(spec.cpus),
        small(spec),
        space(small.machine.store(), spec.has_nodes() ? &small.machine.homes() : nullptr),
        locks(space, spec.cpus),
        interrupts(spec.cpus),
        rcu(make({space, locks, spec, small.machine.layout(), seed}, interrupts, parameters, tree)),
        end(space, "end", spec.cpus),
        user(space.function("user", Mode::user)),
        kernel(space.function("kernel", Mode::kernel)) {}

  // Runs this program on every CPU, which then idles until all programs have ended.
  void run(const Core::Program& program) {
    small.machine.set_functions(space.functions().size());
    small.run(std::vector<Core::Program>(static_cast<std::size_t>(cpus), [&](Cpu& cpu) {
      rcu->start(cpu);
      program(cpu);
      const FunctionScope idle(cpu, rcu->idle_function());
      end.wait(cpu);
    }));
  }
  // In user mode, so that ticks can interrupt it.
  void compute_in_user_mode(Cpu& cpu, std::int64_t cycles) const {
    const FunctionScope scope(cpu, user);
    cpu.compute(cycles);
    cpu.now();
  }

  static std::unique_ptr<Rcu> make(const WorkloadSetup& setting, Interrupts& interrupts, const RcuOptions& parameters,
                                   const std::optional<TreeRcuOptions>& tree) {
    return tree ? make_tree_rcu(setting, interrupts, parameters, *tree) : make_classic_rcu(setting, interrupts, parameters);
  }

  int cpus;
  SmallMachine small;
  AddressSpace space;
  LockSet locks;
  Interrupts interrupts;
  std::unique_ptr<Rcu> rcu;
  Barrier end;
  FunctionId user, kernel;
};

// Each CPU reads the object behind a pointer, or replaces it and has the old one poisoned after a grace period. Times and
// section lengths are random; some sections are longer than a grace period would be without them, and CPUs are in user mode at
// times.
class RandomUpdates {
 public:
  static constexpr int kUpdates = 12;  // by each CPU
  static constexpr int kSteps = 120;   // at most

  explicit RandomUpdates(Kernel& kernel, std::uint64_t seed) : kernel_(kernel), seed_(seed) {
    pointer_ = kernel.space.place_array("pointer", 32);
    objects_ = kernel.space.place_array("objects", std::int64_t{32} * (1 + kernel.cpus * kUpdates));
    kernel.space.preset(pointer_, objects_);
    ran_.resize(static_cast<std::size_t>(kernel.cpus));
  }

  void run() {
    kernel_.run([this](Cpu& cpu) { program(cpu); });
  }

  struct Span {
    Tick from, to;
  };
  std::vector<Span> readers;                 // of all CPUs
  std::vector<Span> removals;                // from the removal to the callback
  std::vector<std::map<Address, int>> ran_;  // by CPU: how often a callback ran for an object
  [[nodiscard]] Address object(int cpu, int update) const {
    return objects_ + 32 * static_cast<Address>(1 + update) + 32 * static_cast<Address>(cpu) * kUpdates;
  }

 private:
  static constexpr Value kPoison = 0xDEAD;

  void program(Cpu& cpu) {
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 7);
    int updates = 0;
    for (int step = 0; step < kSteps; ++step) {
      const std::uint64_t kind = random.below(10);
      const auto length = static_cast<std::int64_t>(random.below(kind == 0 ? 400000 : 3000)) + 1;
      if (kind < 5) {
        read(cpu, length);
      } else if (kind < 7 && updates < kUpdates) {
        update(cpu, object(cpu.id().value, updates++));
      } else if (kind < 8) {
        kernel_.rcu->quiescent(cpu);
      } else {
        kernel_.compute_in_user_mode(cpu, length);
      }
    }
    while (updates < kUpdates) update(cpu, object(cpu.id().value, updates++));
    kernel_.rcu->synchronize(cpu);  // this callback follows those that this CPU queued before
  }

  void read(Cpu& cpu, std::int64_t length) {
    const FunctionScope scope(cpu, kernel_.kernel);
    kernel_.rcu->read_lock(cpu);
    const Tick from = cpu.local_time();
    const Address seen = cpu.load(pointer_);
    kernel_.rcu->read_lock(cpu);
    cpu.compute(length / 2);
    kernel_.rcu->read_unlock(cpu);
    cpu.compute(length / 2);
    EXPECT_NE(cpu.load(seen + 16), kPoison);
    kernel_.rcu->read_unlock(cpu);
    readers.push_back({from, cpu.local_time()});
  }

  void update(Cpu& cpu, Address fresh) {
    const FunctionScope scope(cpu, kernel_.kernel);
    const Address old = cpu.exchange(pointer_, fresh);
    const Tick removed = cpu.local_time();
    const int me = cpu.id().value;
    kernel_.rcu->call(cpu, old, [this, old, removed, me](Cpu& on) {
      EXPECT_EQ(on.id().value, me);
      EXPECT_TRUE(kernel_.interrupts.in_softirq(on));
      on.store(old + 16, kPoison);
      ++ran_[static_cast<std::size_t>(me)][old];
      removals.push_back({removed, on.local_time()});
    });
  }

  Kernel& kernel_;
  std::uint64_t seed_;
  Address pointer_ = 0;
  Address objects_ = 0;
};

void expect_grace_periods(const MachineSpec& spec, std::uint64_t seed, const RcuOptions& options = {.tick_us = kTickUs},
                          const std::optional<TreeRcuOptions>& tree = {}) {
  Kernel kernel(spec, seed, options, tree);
  RandomUpdates updates(kernel, seed);
  updates.run();
  const auto expected = static_cast<std::size_t>(spec.cpus) * RandomUpdates::kUpdates;
  ASSERT_EQ(updates.removals.size(), expected);
  std::map<Address, int> all;
  for (const auto& of_cpu : updates.ran_) {
    for (const auto& [object, times] : of_cpu) all[object] += times;
  }
  EXPECT_EQ(all.size(), expected);
  for (const auto& [object, times] : all) EXPECT_EQ(times, 1);
  std::size_t readers_at_a_removal = 0;
  for (const auto& removal : updates.removals) {
    for (const auto& reader : updates.readers) {
      if (reader.from >= removal.from || reader.to <= removal.from) continue;
      ++readers_at_a_removal;
      EXPECT_LE(reader.to, removal.to);
    }
  }
  EXPECT_GT(readers_at_a_removal, 10U);  // otherwise the test has shown nothing
}

class RcuAtRandom : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(, RcuAtRandom, testing::Range<std::uint64_t>(1, 7));

TEST_P(RcuAtRandom, GracePeriodOutlastsItsReadersAndCallbacksRunOnceOnTheirCpu) {
  expect_grace_periods(small_machine(4), GetParam());
}

TEST_P(RcuAtRandom, GracePeriodOutlastsItsReadersOnHardwareThreadsWithSmallBatches) {
  MachineSpec spec = small_machine(4);
  spec.cpu.threads_per_core = 2;
  expect_grace_periods(spec, GetParam(), {.tick_us = kTickUs, .batch_limit = 2});
}

TEST_P(RcuAtRandom, GracePeriodOutlastsItsReadersWhereStoresMayPassEachOther) {
  MachineSpec spec = small_machine(3);
  spec.cpu.consistency = Consistency::ia64;
  spec.cpu.store_buffer_entries = 4;
  expect_grace_periods(spec, GetParam());
}

TEST_P(RcuAtRandom, GracePeriodOutlastsItsReadersOnSeveralNodes) {
  expect_grace_periods(small_nodes(2, 4), GetParam());
}

constexpr TreeRcuOptions kThreeLevels = {.leaf_fanout = 2, .fanout = 2};

TEST_P(RcuAtRandom, GracePeriodOfATreeOutlastsItsReaders) {
  expect_grace_periods(small_machine(7), GetParam(), {.tick_us = kTickUs}, kThreeLevels);
}

TEST_P(RcuAtRandom, GracePeriodOfATreeOutlastsItsReadersIfCpusTickTogether) {
  expect_grace_periods(small_machine(4), GetParam(), {.tick_us = kTickUs, .ticks_together = true}, kThreeLevels);
}

TEST_P(RcuAtRandom, GracePeriodOfATreeOutlastsItsReadersWhereStoresMayPassEachOther) {
  MachineSpec spec = small_machine(4);
  spec.cpu.consistency = Consistency::ia64;
  spec.cpu.store_buffer_entries = 4;
  expect_grace_periods(spec, GetParam(), {.tick_us = kTickUs}, kThreeLevels);
}

TEST_P(RcuAtRandom, GracePeriodOfATreeOutlastsItsReadersOnSeveralNodes) {
  expect_grace_periods(small_nodes(2, 4), GetParam(), {.tick_us = kTickUs}, kThreeLevels);
}

// CPU 3, the last, reads for 50 ticks; CPU 0 waits for a grace period in the meantime.
void wait_for_a_long_reader(RcuMistake mistake, const std::optional<TreeRcuOptions>& tree) {
  Kernel kernel(small_machine(4), 1, {.tick_us = kTickUs, .mistake = mistake}, tree);
  kernel.run([&](Cpu& cpu) {
    if (cpu.id().value == 0) {
      cpu.compute(2000);
      kernel.rcu->synchronize(cpu);
    } else if (cpu.id().value == 3) {
      const FunctionScope scope(cpu, kernel.kernel);
      kernel.rcu->read_lock(cpu);
      cpu.compute(static_cast<std::int64_t>(50 * kTickUs * 1000));
      kernel.rcu->read_unlock(cpu);
    }
  });
}

TEST(Rcu, AGracePeriodThatSkipsACpuIsFound) {
  EXPECT_THROW(wait_for_a_long_reader(RcuMistake::skips_a_cpu, {}), ModelFailure);
}

TEST(Rcu, AGracePeriodThatSkipsNoCpuIsAccepted) {
  EXPECT_NO_THROW(wait_for_a_long_reader(RcuMistake::none, {}));
}

TEST(Rcu, AGracePeriodOfATreeThatSkipsACpuIsFound) {
  EXPECT_THROW(wait_for_a_long_reader(RcuMistake::skips_a_cpu, kThreeLevels), ModelFailure);
}

TEST(Rcu, AGracePeriodOfATreeThatSkipsNoCpuIsAccepted) {
  EXPECT_NO_THROW(wait_for_a_long_reader(RcuMistake::none, kThreeLevels));
}

std::int64_t acquisitions(const Kernel& kernel, const std::string& lock) {
  std::int64_t all = 0;
  for (const auto& [site, use] : kernel.locks.figures().at(lock).by_call_site()) all += use.nowait + use.spin;
  return all;
}

// Direct callbacks are unsafe even on one CPU: a caller that goes on using the object that it removed finds the object freed.
Value still_there_after_its_removal(bool direct) {
  Kernel kernel(small_machine(1), 1, {.tick_us = kTickUs, .direct = direct});
  const Address object = kernel.space.place_array("object", 32);
  Value seen = 0;
  kernel.run([&](Cpu& cpu) {
    const FunctionScope scope(cpu, kernel.kernel);
    kernel.rcu->call(cpu, object, [object](Cpu& on) { on.store(object + 16, 0xDEAD); });
    seen = cpu.load(object + 16);
  });
  return seen;
}

TEST(Rcu, WhatACallerRemovedIsStillThereUntilAGracePeriodIsOver) {
  EXPECT_EQ(still_there_after_its_removal(false), 0U);
}

TEST(Rcu, WhatACallerRemovedIsFreedAtOnceByADirectCallback) {
  EXPECT_EQ(still_there_after_its_removal(true), 0xDEADU);
}

// A softirq interrupts a reader and removes what it reads.
void remove_under_a_reader(bool direct) {
  Kernel kernel(small_machine(1), 1, {.tick_us = kTickUs, .direct = direct});
  const Address object = kernel.space.place_array("object", 32);
  const int softirq = kernel.interrupts.add_softirq([&](Cpu& cpu) { kernel.rcu->call(cpu, object, [](Cpu&) {}); });
  const int vector = kernel.interrupts.add_handler([&](Cpu& cpu, FunctionId) { kernel.interrupts.raise(cpu, softirq); });
  kernel.run([&](Cpu& cpu) {
    const FunctionScope scope(cpu, kernel.kernel);
    kernel.rcu->read_lock(cpu);
    cpu.set_timer(1000, vector);
    cpu.compute(5000);
    kernel.rcu->read_unlock(cpu);
  });
}

TEST(Rcu, ASoftirqMayRemoveWhatAReaderThatItInterruptsReads) {
  EXPECT_NO_THROW(remove_under_a_reader(false));
}

TEST(Rcu, ADirectCallbackOfASoftirqUnderAReaderIsFound) {
  EXPECT_THROW(remove_under_a_reader(true), ModelFailure);
}

// 8 CPUs, leaves of 4. In a grace period each CPU reports to its leaf, and one CPU of each leaf to the root; each node is
// locked once to begin the period and once to end it, the root once more to check whether another is wanted. CPU 0 requests
// each one through leaf and root.
TEST(Rcu, OnlyOneCpuOfALeafReportsToTheRoot) {
  constexpr int kWaits = 5;
  Kernel kernel(small_machine(8), 1, {.tick_us = kTickUs}, TreeRcuOptions{.leaf_fanout = 4, .fanout = 4});
  kernel.run([&](Cpu& cpu) {
    if (cpu.id().value != 0) return;
    for (int i = 0; i < kWaits; ++i) kernel.rcu->synchronize(cpu);
  });
  const auto periods = static_cast<std::int64_t>(kernel.rcu->grace_periods().size());
  EXPECT_GE(periods, kWaits);
  EXPECT_EQ(acquisitions(kernel, "rcu_root_lock"), (2 + 1 + 1 + 1) * periods + kWaits);
  EXPECT_EQ(acquisitions(kernel, "rcu_node_lock"), (8 + 2 + 2) * periods + kWaits);
}

// Work of the CPU may hide one tick. Two grace periods pass, each at most two ticks long: one that is already under way, and
// the next, which counts.
TEST(Rcu, SynchronizeReturnsAfterAFewTicksOfCpusThatIdle) {
  Kernel kernel(small_machine(4));
  double took_us = 0;
  kernel.run([&](Cpu& cpu) {
    if (cpu.id().value != 0) return;
    const double begin = cpu.now_ns();
    kernel.rcu->synchronize(cpu);
    took_us = (cpu.now_ns() - begin) / 1000;
  });
  EXPECT_GT(took_us, kTickUs);
  EXPECT_LT(took_us, 8 * kTickUs);
}

TEST(Rcu, ACpuThatComputesInUserModeHoldsNothingUp) {
  Kernel kernel(small_machine(2));
  double done_ns = 0;
  kernel.run([&](Cpu& cpu) {
    if (cpu.id().value == 0) {
      kernel.rcu->synchronize(cpu);
      done_ns = cpu.now_ns();
    } else {
      kernel.compute_in_user_mode(cpu, 1000000);
    }
  });
  EXPECT_LT(done_ns, 8 * kTickUs * 1000);
}

TEST(Rcu, ACpuThatSleepsInTheIdleLoopHoldsNothingUp) {
  Kernel kernel(small_machine(2));
  double done_ns = 0;
  kernel.run([&](Cpu& cpu) {
    if (cpu.id().value == 0) {
      kernel.rcu->synchronize(cpu);
      done_ns = cpu.now_ns();
      cpu.compute(100000);
      cpu.wake(CpuId{1});
    } else {
      const FunctionScope idle(cpu, kernel.rcu->idle_function());
      cpu.sleep();
      EXPECT_GT(cpu.now_ns(), done_ns + 100000);
    }
  });
  EXPECT_LT(done_ns, 8 * kTickUs * 1000);
}

TEST(Rcu, ACpuThatStaysInTheKernelHoldsAllUpUntilItsQuiescentState) {
  Kernel kernel(small_machine(2));
  double done_ns = 0;
  double quiescent_ns = 0;
  kernel.run([&](Cpu& cpu) {
    if (cpu.id().value == 0) {
      kernel.rcu->synchronize(cpu);
      done_ns = cpu.now_ns();
    } else {
      const FunctionScope scope(cpu, kernel.kernel);
      cpu.compute(1000000);
      quiescent_ns = cpu.now_ns();
      kernel.rcu->quiescent(cpu);
    }
  });
  EXPECT_GT(done_ns, quiescent_ns);
}

TEST(Rcu, SoftirqsStayOutOfASectionThatDisabledThemAndRunAtItsEnd) {
  Kernel kernel(small_machine(2));
  const Address head = kernel.space.place_array("head", 32);
  bool ran = false;
  kernel.run([&](Cpu& cpu) {
    if (cpu.id().value != 0) return;
    kernel.rcu->call(cpu, head, [&](Cpu&) { ran = true; });
    kernel.interrupts.disable_softirqs(cpu);
    for (int i = 0; i < 40; ++i) {
      cpu.compute(10000);
      kernel.rcu->quiescent(cpu);
      EXPECT_FALSE(ran);
    }
    kernel.interrupts.enable_softirqs(cpu);
    kernel.rcu->synchronize(cpu);
    EXPECT_TRUE(ran);
  });
}

TEST(Rcu, AQuiescentStateInsideAReaderIsRefused) {
  Kernel kernel(small_machine(1));
  EXPECT_THROW(kernel.run([&](Cpu& cpu) {
    kernel.rcu->read_lock(cpu);
    kernel.rcu->quiescent(cpu);
  }),
               ModelFailure);
}

TEST(Rcu, SynchronizeInsideAReaderIsRefused) {
  Kernel kernel(small_machine(1));
  EXPECT_THROW(kernel.run([&](Cpu& cpu) {
    kernel.rcu->read_lock(cpu);
    kernel.rcu->synchronize(cpu);
  }),
               ModelFailure);
}

TEST(Rcu, AnObjectThatIsQueuedTwiceIsRefused) {
  Kernel kernel(small_machine(1));
  const Address head = kernel.space.place_array("head", 32);
  EXPECT_THROW(kernel.run([&](Cpu& cpu) {
    kernel.rcu->call(cpu, head, [](Cpu&) {});
    kernel.rcu->call(cpu, head, [](Cpu&) {});
  }),
               ModelFailure);
}

TEST(Rcu, ACallbackMayQueueItsObjectAgain) {
  Kernel kernel(small_machine(2));
  const Address head = kernel.space.place_array("head", 32);
  int ran = 0;
  std::function<void(Cpu&)> again = [&](Cpu& cpu) {
    if (++ran < 3) kernel.rcu->call(cpu, head, again);
  };
  kernel.run([&](Cpu& cpu) {
    if (cpu.id().value != 0) return;
    kernel.rcu->call(cpu, head, again);
    for (int i = 0; i < 4; ++i) kernel.rcu->synchronize(cpu);
  });
  EXPECT_EQ(ran, 3);
}

// Keeps a CPU in softirqs for as long as 80 ticks, so that no tick interrupts user or kernel code. There are 40 softirqs of
// two ticks each; each is raised again when the last one ends, so there is no context switch or user code in between.
class SoftirqsWithoutAPause {
 public:
  static constexpr int kSoftirqs = 40;

  explicit SoftirqsWithoutAPause(Kernel& kernel) : kernel_(kernel) {
    softirq_ = kernel.interrupts.add_softirq([this](Cpu& cpu) { work(cpu); });
    vector_ = kernel.interrupts.add_handler([this](Cpu& cpu, FunctionId) { kernel_.interrupts.raise(cpu, softirq_); });
    kernel.interrupts.defer_rest_to([](Cpu&) {}, 1000);
  }
  void run(Cpu& cpu) {
    const FunctionScope scope(cpu, kernel_.kernel);
    cpu.set_timer(1, vector_);
    cpu.compute(1000);
    cpu.now();
    end_ns = cpu.now_ns();
  }
  double end_ns = 0;

 private:
  void work(Cpu& cpu) {
    cpu.compute(static_cast<std::int64_t>(2 * kTickUs * 1000));
    cpu.now();
    if (++ran_ < kSoftirqs) kernel_.interrupts.raise(cpu, softirq_);
  }

  Kernel& kernel_;
  int softirq_ = 0, vector_ = 0;
  int ran_ = 0;
};

// Returns when the grace period that CPU 0 waits for ends, and when CPU 1's softirqs end.
std::pair<double, double> synchronized_beside_softirqs(bool readers_in_softirqs) {
  Kernel kernel(small_machine(2), 1, {.tick_us = kTickUs, .readers_in_softirqs = readers_in_softirqs});
  SoftirqsWithoutAPause softirqs(kernel);
  double synchronized_ns = 0;
  kernel.run([&](Cpu& cpu) {
    if (cpu.id().value == 0) {
      kernel.rcu->synchronize(cpu);
      synchronized_ns = cpu.now_ns();
    } else {
      softirqs.run(cpu);
    }
  });
  return {synchronized_ns, softirqs.end_ns};
}

TEST(Rcu, SoftirqsWithoutAPauseHoldAGracePeriodUpToTheirEnd) {
  const auto [synchronized_ns, end_ns] = synchronized_beside_softirqs(false);
  EXPECT_GT(synchronized_ns, end_ns);
}

// RCU's own softirq runs after the others of a round, so each state takes a round or two to be noticed and passed on.
TEST(Rcu, WhereReadersAreSoftirqsTheEndOfOneIsAQuiescentState) {
  const auto [synchronized_ns, end_ns] = synchronized_beside_softirqs(true);
  EXPECT_LT(synchronized_ns, end_ns / 3);
}

// A reader in a program, with softirqs enabled: call_rcu_bh() does not wait for it, and the check finds it.
void read_in_a_program(bool readers_in_softirqs) {
  Kernel kernel(small_machine(2), 1, {.tick_us = kTickUs, .readers_in_softirqs = readers_in_softirqs});
  const Address head = kernel.space.place_array("head", 32);
  kernel.run([&](Cpu& cpu) {
    if (cpu.id().value == 0) {
      cpu.compute(1000);
      kernel.rcu->synchronize(cpu);
      kernel.rcu->synchronize(cpu);
      return;
    }
    const FunctionScope scope(cpu, kernel.kernel);
    kernel.rcu->read_lock(cpu);
    for (int i = 0; i < 20; ++i) {
      cpu.compute(static_cast<std::int64_t>(kTickUs * 1000));
      cpu.now();
      if (i == 5) kernel.rcu->call(cpu, head, [](Cpu&) {});
    }
    kernel.rcu->read_unlock(cpu);
  });
}

TEST(Rcu, AReaderInAProgramIsWaitedFor) {
  EXPECT_NO_THROW(read_in_a_program(false));
}

TEST(Rcu, WhereReadersAreSoftirqsAReaderInAProgramIsFoundWhenItsObjectIsFreed) {
  EXPECT_THROW(read_in_a_program(true), ModelFailure);
}

TEST(Rcu, CallbacksBeyondABatchCanBeLeftToAThread) {
  Kernel kernel(small_machine(1), 1, {.tick_us = kTickUs, .batch_limit = 3, .excess_to_thread = true});
  constexpr int kCallbacks = 50;
  const Address heads = kernel.space.place_array("heads", std::int64_t{32} * kCallbacks);
  int ran = 0;
  std::int64_t by_thread = 0;
  kernel.run([&](Cpu& cpu) {
    for (int i = 0; i < kCallbacks; ++i) kernel.rcu->call(cpu, heads + 32 * static_cast<Address>(i), [&ran](Cpu&) { ++ran; });
    EXPECT_EQ(kernel.rcu->queued_on(cpu), static_cast<std::size_t>(kCallbacks));
    while (ran == 0) kernel.compute_in_user_mode(cpu, 1000);
    EXPECT_LE(ran, 3);  // not all at once
    const int before = ran;
    by_thread = kernel.rcu->run_excess(cpu, [&] { return ran >= 40; });
    EXPECT_GE(by_thread, 40 - before - 6);
    by_thread += kernel.rcu->run_excess(cpu, [] { return false; });
    EXPECT_EQ(ran, kCallbacks);
    EXPECT_EQ(kernel.rcu->queued_on(cpu), 0U);
  });
  std::int64_t in_softirqs = 0;
  for (const CallbackBatch& batch : kernel.rcu->batches()) {
    EXPECT_LE(batch.callbacks, 3);
    in_softirqs += batch.callbacks;
  }
  EXPECT_EQ(in_softirqs + by_thread, kCallbacks);
}

TEST(Rcu, TheLogHasEveryGracePeriodAndBatchInTheOrderOfTime) {
  Kernel kernel(small_machine(3));
  const Address heads = kernel.space.place_array("heads", std::int64_t{3} * 5 * 32);
  kernel.run([&](Cpu& cpu) {
    for (int i = 0; i < 5; ++i) {
      kernel.rcu->call(cpu, heads + 32 * static_cast<Address>(cpu.id().value * 5 + i), [](Cpu&) {});
      kernel.rcu->synchronize(cpu);
    }
  });
  const auto& periods = kernel.rcu->grace_periods();
  ASSERT_GE(periods.size(), 5U);
  for (std::size_t i = 0; i < periods.size(); ++i) {
    EXPECT_LT(periods[i].began, periods[i].ended);
    EXPECT_LE(i > 0 ? periods[i - 1].ended : 0, periods[i].began);
  }
  std::int64_t callbacks = 0;
  Tick last = 0;
  for (const CallbackBatch& batch : kernel.rcu->batches()) {
    callbacks += batch.callbacks;
    EXPECT_GE(batch.at, last);
    last = batch.at;
  }
  EXPECT_EQ(callbacks, 3 * 5 * 2);  // synchronize() queues a callback of its own
}

TEST(Rcu, DirectCallbacksRunAtOnce) {
  Kernel kernel(small_machine(1), 1, {.tick_us = kTickUs, .direct = true});
  const Address head = kernel.space.place_array("head", 32);
  kernel.run([&](Cpu& cpu) {
    bool ran = false;
    kernel.rcu->call(cpu, head, [&](Cpu&) { ran = true; });
    EXPECT_TRUE(ran);
  });
}

TEST(Rcu, DirectCallbacksAreRefusedWhereThereAreSeveralCpus) {
  EXPECT_THROW(Kernel(small_machine(2), 1, {.tick_us = kTickUs, .direct = true}), std::invalid_argument);
}

}  // namespace
}  // namespace linebounce::test
