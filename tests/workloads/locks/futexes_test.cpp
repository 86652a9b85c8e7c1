// A futex: who waits sleeps only if the word still has the value, is woken in the order of arrival, and no wake-up is lost.
#include "workloads/locks/futexes.hpp"

#include <gtest/gtest.h>

#include "tests/workloads/locks/lock_support.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

struct FutexMachine {
  explicit FutexMachine(double call_ns = 0, double switch_ns = 0)
      : small(machine(call_ns, switch_ns)),
        space(small.machine.store()),
        per_cpu(space, kCpus, small.machine.layout().cpus),
        futexes(Futexes::of(per_cpu)),
        word{space.place_array("word", 8), 4},
        other{space.place_array("other", 8), 4} {}

  static MachineSpec machine(double call_ns, double switch_ns) {
    MachineSpec spec = small_machine(kCpus);
    spec.cpu.system_call_ns = call_ns;
    spec.cpu.context_switch_ns = switch_ns;
    return spec;
  }

  SmallMachine small;
  AddressSpace space;
  CpuObjects per_cpu;
  const Futexes& futexes;
  Cpu::Word word, other;
};

class AFutex : public testing::Test, protected FutexMachine {};

TEST_F(AFutex, IsNotWaitedForIfItsWordHasAnotherValue) {
  bool slept = true;
  small.run({[&](Cpu& cpu) { slept = futexes.wait(cpu, word, 1); }});
  EXPECT_FALSE(slept);
  EXPECT_EQ(small.machine.cpu(0).counters().asleep(), 0);
}

TEST_F(AFutex, WakesThoseWhoWaitForThisWordInTheirOrderAndNoMoreThanAsked) {
  std::vector<int> woken;
  std::vector<int> found;
  const auto waits_from = [&](double us, const Cpu::Word& on) {
    return [&, us, on](Cpu& cpu) {
      wait_until(cpu, 1000 * us);
      EXPECT_TRUE(futexes.wait(cpu, on, 0));
      woken.push_back(cpu.id().value);
    };
  };
  small.run({waits_from(2, word), waits_from(1, word), waits_from(3, other), [&](Cpu& cpu) {
               for (const auto& [us, which] : {std::pair{10, word}, {20, word}, {30, word}, {40, other}}) {
                 wait_until(cpu, 1000.0 * us);
                 found.push_back(futexes.wake(cpu, which.address, us == 40 ? 4 : 1));
               }
             }});
  EXPECT_EQ(woken, (std::vector<int>{1, 0, 2}));
  EXPECT_EQ(found, (std::vector<int>{1, 1, 0, 1}));
}

TEST_F(AFutex, SleepsOnAfterAWakeUpThatWasNotMeantForIt) {
  double woken_at = 0;
  small.run({[&](Cpu& cpu) {
               EXPECT_TRUE(futexes.wait(cpu, word, 0));
               woken_at = cpu.now_ns();
             },
             [&](Cpu& cpu) {
               wait_until(cpu, 5000);
               cpu.wake(CpuId(0));
               wait_until(cpu, 10000);
               futexes.wake(cpu, word.address, 1);
             }});
  EXPECT_GT(woken_at, 10000);
}

// The word changes at any time between a waiter's look at it and its sleep: in no case does it sleep for ever.
TEST_F(AFutex, LosesNoWakeUpWhateverTheTime) {
  for (int delay = 0; delay < 400; ++delay) {
    FutexMachine fresh;
    fresh.small.run({[&](Cpu& cpu) {
                       while (cpu.load(fresh.word.address, 4) == 0) fresh.futexes.wait(cpu, fresh.word, 0);
                     },
                     [&, delay](Cpu& cpu) {
                       cpu.compute(10 * delay);
                       cpu.exchange(fresh.word.address, 1, 4);
                       fresh.futexes.wake(cpu, fresh.word.address, 1);
                     }});
  }
}

// With 100 ns for a system call and 2000 for a switch, a wake-up takes 130 ns for the waker's call and 2000 for the switch back
// longer than with none. The waiter's call and the switch away are over before.
TEST(AFutexCosts, AreTheCallOfWhoWakesAndTheSwitchOfWhoIsWoken) {
  const auto woken_at = [](double call_ns, double switch_ns) {
    FutexMachine it(call_ns, switch_ns);
    double at = 0;
    it.small.run({[&](Cpu& cpu) {
                    it.futexes.wait(cpu, it.word, 0);
                    at = cpu.now_ns();
                  },
                  [&](Cpu& cpu) {
                    wait_until(cpu, 20000);
                    it.futexes.wake(cpu, it.word.address, 1);
                  }});
    return at;
  };
  EXPECT_EQ(woken_at(100, 2000), woken_at(0, 0) + 130 + 2000);
}

}  // namespace

}  // namespace linebounce::test
