// Every lock of the registry keeps its properties on every kind of machine.
#include <gtest/gtest.h>

#include "tests/workloads/locks/lock_support.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : machines()) names.push_back(name);
  return names;
}

bool bears(const LockTraits& traits) {
  return traits.most_cpus == 0 || traits.most_cpus >= kCpus;
}

std::vector<std::string> excluding() {
  return lock_names([](const LockTraits& traits) { return traits.excludes && bears(traits); });
}

std::vector<std::string> first_come_first_served() {
  return lock_names([](const LockTraits& traits) { return traits.fifo && bears(traits); });
}

using LockAndMachine = std::tuple<std::string, std::string>;

class EachLock : public testing::TestWithParam<LockAndMachine> {
 protected:
  LockFactory lock = factory_of(std::get<0>(GetParam()));
  MachineSpec spec = machines().at(std::get<1>(GetParam()))();
};
INSTANTIATE_TEST_SUITE_P(, EachLock, testing::Combine(testing::ValuesIn(excluding()), testing::ValuesIn(machine_names())),
                         [](const auto& tested) { return std::get<0>(tested.param) + "_" + std::get<1>(tested.param); });

TEST_P(EachLock, LetsOneWriterInAtATimeAndEverybodyInTheEnd) {
  EXPECT_EQ(broken_property(lock, spec), "");
}

// Locks without a reader side admit readers one by one, and keep the same property.
TEST_P(EachLock, ReadersSeeWhatAWriterHasLeft) {
  const Readers readers = find_lock(std::get<0>(GetParam())).traits.readers;
  if (readers == Readers::never_wait) GTEST_SKIP() << "they need copies, as workloads/rcu's tests have them";
  std::string broken = broken_property(lock, spec, 6);
  // Readers of a sequence lock may run beside a writer; they discard what they saw then.
  if (readers == Readers::read_again && broken == "a reader and a writer were inside together") broken.clear();
  EXPECT_EQ(broken, "");
}

// A wait of 10 ms costs as few events as a short one.
TEST_P(EachLock, LongWaitsCostNoEvents) {
  const std::string& name = std::get<0>(GetParam());
  if (name == "tas" || name == "hbo") GTEST_SKIP() << "every attempt moves the line";
  LockedMachine locked(lock, spec);
  const Core::Program program = [&](Cpu& cpu) {
    cpu.compute(1000 * cpu.id().value);
    locked.lock->acquire(cpu);
    cpu.compute(10000000);
    locked.lock->release(cpu);
  };
  locked.small.run(std::vector<Core::Program>(kCpus, program));
  EXPECT_LT(locked.small.machine.turns(), 2000);
}

// CPU 0 holds the lock for up to 20 us: CPUs that try in that time continue without it. CPUs that try later, one after the
// other, get it.
TEST_P(EachLock, TryingNeverWaits) {
  if (!find_lock(std::get<0>(GetParam())).traits.tries) GTEST_SKIP() << "it has no try_acquire";
  LockedMachine locked(lock, spec);
  const Core::Program holds = [&](Cpu& cpu) {
    locked.lock->acquire(cpu);
    cpu.compute(20000);
    locked.lock->release(cpu);
  };
  const Core::Program tries = [&](Cpu& cpu) {
    const int me = cpu.id().value;
    wait_until(cpu, 3000 * me);
    EXPECT_FALSE(locked.lock->try_acquire(cpu));
    EXPECT_LT(cpu.now_ns(), 3000 * me + 2500);
    wait_until(cpu, 30000 + 3000 * me);
    EXPECT_TRUE(locked.lock->try_acquire(cpu));
    locked.lock->release(cpu);
  };
  locked.small.run({holds, tries, tries, tries});
}

class QueueLock : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, QueueLock, testing::ValuesIn(first_come_first_served()),
                         [](const auto& tested) { return tested.param; });

TEST_P(QueueLock, ServesInTheOrderOfArrival) {
  EXPECT_TRUE(serves_in_order(factory_of(GetParam())));
}

// Queue nodes belong to a CPU, not to a lock: one CPU holds many locks of a kind, releases them in any order, and takes more in
// a handler.
TEST_P(QueueLock, OneCpuHoldsManyAndItsHandlersTakeMore) {
  SmallMachine small(small_machine(2));
  AddressSpace space(small.machine.store());
  CpuObjects per_cpu(space, 2, {});
  constexpr int kHeld = 6;
  std::vector<std::unique_ptr<Lock>> locks;
  for (int i = 0; i <= kHeld; ++i) {
    locks.push_back(factory_of(GetParam())({space, per_cpu, "lock" + std::to_string(i), {}, {}}));
  }
  const std::vector<int> order = {3, 0, 5, 1, 4, 2};
  int handled = 0;
  const Core::Program program = [&](Cpu& cpu) {
    cpu.set_interrupt_handler([&](Cpu& interrupted, int) {
      locks[kHeld]->acquire(interrupted);
      ++handled;
      locks[kHeld]->release(interrupted);
    });
    for (int round = 0; round < 10; ++round) {
      cpu.set_timer(100 * round, 0);
      for (int i = 0; i < kHeld; ++i) locks[static_cast<std::size_t>(i)]->acquire(cpu);
      cpu.compute(100);
      for (const int i : order) locks[static_cast<std::size_t>(i)]->release(cpu);
    }
    cpu.compute(2000);
  };
  small.run({program, program});
  EXPECT_EQ(handled, 20);
}

TEST(QueueNodes, ThatRunOutStopTheRun) {
  SmallMachine small(small_machine(1));
  AddressSpace space(small.machine.store());
  CpuObjects per_cpu(space, 1, {});
  std::vector<std::unique_ptr<Lock>> locks;
  for (int i = 0; i <= CpuObjects::kNodesOfCpu; ++i) {
    locks.push_back(factory_of("mcs")({space, per_cpu, "lock" + std::to_string(i), {}, {}}));
  }
  int held = 0;
  const auto holds_all = [&](Cpu& cpu) {
    for (const auto& lock : locks) {
      lock->acquire(cpu);
      ++held;
    }
  };
  EXPECT_THROW(small.run({holds_all}), ModelFailure);
  EXPECT_EQ(held, CpuObjects::kNodesOfCpu);
}

}  // namespace
}  // namespace linebounce::test
