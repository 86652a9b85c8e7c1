// Locks of glibc and Rust: what a wait costs, who passes whom, and what a process of one thread saves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/locks/lock_support.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

using testing::ElementsAre;

MachineSpec with_system_costs(int cpus, double call_ns, double switch_ns) {
  MachineSpec spec = small_machine(cpus);
  spec.cpu.system_call_ns = call_ns;
  spec.cpu.context_switch_ns = switch_ns;
  return spec;
}

// When CPU 1 has the lock for which it has slept since 2000 ns and which CPU 0 releases at 20000 ns.
double had_at(const std::string& name, double call_ns, double switch_ns) {
  LockedMachine locked(factory_of(name), with_system_costs(kCpus, call_ns, switch_ns));
  double had = 0;
  locked.small.run({[&](Cpu& cpu) {
                      locked.lock->acquire(cpu);
                      wait_until(cpu, 20000);
                      locked.lock->release(cpu);
                    },
                    [&](Cpu& cpu) {
                      wait_until(cpu, 2000);
                      locked.lock->acquire(cpu);
                      had = cpu.now_ns();
                      locked.lock->release(cpu);
                    }});
  return had;
}

class ALockOfGlibc : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, ALockOfGlibc, testing::Values("glibc_mutex", "glibc_adaptive_mutex", "glibc_rwlock", "rust_mutex"));

// The release makes one system call, which takes 1.3 times as long as an empty one, and the waiter's thread gets its CPU back
// after one context switch. Its own call and the switch away were over before the release.
TEST_P(ALockOfGlibc, IsHadByASleeperACallAndASwitchAfterItsRelease) {
  EXPECT_EQ(had_at(GetParam(), 100, 2000), had_at(GetParam(), 0, 0) + 130 + 2000);
}

TEST_P(ALockOfGlibc, MakesNoSystemCallIfNobodyWaits) {
  const auto over_at = [](double call_ns, double switch_ns) {
    LockedMachine locked(factory_of(GetParam()), with_system_costs(kCpus, call_ns, switch_ns));
    double over = 0;
    locked.small.run({[&](Cpu& cpu) {
      for (int round = 0; round < 10; ++round) {
        locked.lock->acquire(cpu);
        locked.lock->release(cpu);
      }
      over = cpu.now_ns();
    }});
    return over;
  };
  EXPECT_EQ(over_at(1000, 10000), over_at(0, 0));
}

// The holder releases the mutex and takes it again before the CPU that it has woken runs.
TEST(AGlibcMutex, IsNotHandedToTheCpuThatItsReleaseWakes) {
  LockedMachine locked(factory_of("glibc_mutex"), with_system_costs(kCpus, 100, 1500));
  std::vector<int> order;
  const auto takes = [&](Cpu& cpu, int times) {
    for (int i = 0; i < times; ++i) {
      locked.lock->acquire(cpu);
      order.push_back(cpu.id().value);
      cpu.compute(10000);
      locked.lock->release(cpu);
    }
  };
  locked.small.run({[&](Cpu& cpu) { takes(cpu, 3); },
                    [&](Cpu& cpu) {
                      wait_until(cpu, 2000);
                      takes(cpu, 1);
                    }});
  EXPECT_THAT(order, ElementsAre(0, 0, 0, 1));
}

// Measured with the line in the cache. Two CPUs: a load of the kind (2 cycles) and a compare-exchange (30) lock, an exchange
// (20) unlocks. One CPU: the kind and the word are loaded together (the second a cycle later: 3), a store (1) locks, another
// unlocks.
TEST(AGlibcMutex, NeedsNoAtomicOperationsInAProcessOfOneThread) {
  const auto cost = [](int cpus) {
    LockedMachine locked(factory_of("glibc_mutex"), small_machine(cpus));
    double begin = 0, end = 0;
    locked.small.run({[&](Cpu& cpu) {
      locked.lock->acquire(cpu);
      locked.lock->release(cpu);
      begin = cpu.now_ns();
      locked.lock->acquire(cpu);
      locked.lock->release(cpu);
      end = cpu.now_ns();
    }});
    return end - begin;
  };
  EXPECT_EQ(cost(2) - cost(1), (2 + 30 + 20) - (3 + 1 + 1));
}

// A reader is inside from 0 to 20 us and a writer waits from 2 us, when at 10 us another reader comes.
TEST(AGlibcRwlock, LetsReadersPassAWriterThatWaits) {
  LockedMachine locked(factory_of("glibc_rwlock"), small_machine(kCpus));
  std::vector<int> order;
  const auto reads = [&](double from, std::int64_t cycles) {
    return [&, from, cycles](Cpu& cpu) {
      wait_until(cpu, from);
      locked.lock->acquire_shared(cpu);
      order.push_back(cpu.id().value);
      cpu.compute(cycles);
      locked.lock->release_shared(cpu);
    };
  };
  locked.small.run({reads(0, 20000),
                    [&](Cpu& cpu) {
                      wait_until(cpu, 2000);
                      locked.lock->acquire(cpu);
                      order.push_back(cpu.id().value);
                      locked.lock->release(cpu);
                    },
                    reads(10000, 1000)});
  EXPECT_THAT(order, ElementsAre(0, 2, 1));
}

}  // namespace

}  // namespace linebounce::test
