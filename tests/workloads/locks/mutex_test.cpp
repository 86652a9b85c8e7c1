// A mutex spins while its owner runs, sleeps while the owner sleeps, and loses no wake-up, whether its own or a program's.
#include <gtest/gtest.h>

#include "tests/workloads/locks/lock_support.hpp"
#include "workloads/locks/sleepers.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

class AMutex : public testing::Test {
 protected:
  AMutex() : locked(factory_of("mutex"), small_machine(kCpus)), sleepers(locked.per_cpu) {}

  void run(const std::vector<Core::Program>& programs) { locked.small.run(programs); }
  Tick slept(int cpu) { return locked.small.machine.cpu(cpu).counters().asleep(); }
  Lock& mutex() { return *locked.lock; }
  // Holds the mutex for 50 us from the start, asleep; CPU 3 wakes it.
  Core::Program holds_asleep() {
    return [this](Cpu& cpu) {
      mutex().acquire(cpu);
      sleepers.sleep(cpu);
      mutex().release(cpu);
    };
  }

  LockedMachine locked;
  Sleepers sleepers;
};

TEST_F(AMutex, IsWaitedForAwakeWhileItsOwnerRuns) {
  const Core::Program program = [this](Cpu& cpu) {
    mutex().acquire(cpu);
    cpu.compute(20000);
    mutex().release(cpu);
  };
  run({program, program, program});
  for (int cpu = 0; cpu < 3; ++cpu) EXPECT_EQ(slept(cpu), 0) << cpu;
}

TEST_F(AMutex, IsWaitedForAsleepWhileItsOwnerSleeps) {
  const Core::Program waits = [this](Cpu& cpu) {
    cpu.compute(2000);
    mutex().acquire(cpu);
    mutex().release(cpu);
  };
  run({holds_asleep(), waits, waits, [](Cpu& cpu) {
         cpu.compute(50000);
         cpu.wake(CpuId(0));
       }});
  EXPECT_GT(slept(1), slept(0) * 8 / 10);
  EXPECT_GT(slept(2), slept(0) * 8 / 10);
}

// All CPUs are constantly woken without reason. At any time only one CPU may enter, and in the end each has entered.
TEST_F(AMutex, SurvivesSpuriousWakeUps) {
  int inside = 0;
  bool together = false;
  int entered = 0;
  const Core::Program program = [&](Cpu& cpu) {
    for (int round = 0; round < 5; ++round) {
      mutex().acquire(cpu);
      cpu.now();
      together = together || inside != 0;
      ++inside;
      cpu.set_timer(3000, 0);
      sleepers.sleep(cpu);
      --inside;
      ++entered;
      mutex().release(cpu);
    }
  };
  run({program, program, program, [](Cpu& cpu) {
         for (int i = 0; i < 200; ++i) {
           cpu.wake(CpuId(i % 3));
           cpu.compute(170);
         }
         for (int i = 0; i < 200; ++i) {
           cpu.compute(5000);
           cpu.wake(CpuId(i % 3));
         }
       }});
  EXPECT_FALSE(together);
  EXPECT_EQ(entered, 15);
}

// CPU 1 sleeps for the mutex when CPU 2 wakes it. CPU 1's program checks for the wake-up only after it has had the mutex.
TEST_F(AMutex, HandsOnAWakeUpThatWasMeantForTheProgram) {
  bool woken = false;
  run({holds_asleep(),
       [&](Cpu& cpu) {
         cpu.compute(2000);
         mutex().acquire(cpu);
         mutex().release(cpu);
         cpu.sleep();  // would deadlock if the mutex had swallowed it
         woken = true;
       },
       [](Cpu& cpu) {
         cpu.compute(20000);
         cpu.wake(CpuId(1));
       },
       [](Cpu& cpu) {
         cpu.compute(50000);
         cpu.wake(CpuId(0));
       }});
  EXPECT_TRUE(woken);
}

}  // namespace
}  // namespace linebounce::test
