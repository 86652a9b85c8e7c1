// Spins, interrupts, timers and sleep, each exact to the cycle.
#include <gtest/gtest.h>

#include <array>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

// A spin must behave the same whether it is parked or simulated load by load.
class Spin : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static EngineSpec engine() {
    EngineSpec engine;
    engine.parked_spins = GetParam();
    return engine;
  }
};
INSTANTIATE_TEST_SUITE_P(, Spin, testing::Bool(), [](const auto& tested) { return tested.param ? "parked" : "simulated"; });

// The store that CPU 1 waits for in the tests below.
void store_at_2000(Cpu& cpu) {
  wait_until(cpu, 2000);
  cpu.store(kLine, 1);
}

// CPU 1 loads at 1000, 1004, 1008, ... CPU 0's store at 2000 is granted at 2020 and snooped at 2070; memory's data is at the
// pins at 2140, and the store is done at 2145. CPU 1's load at 2072 misses: stamped 2082, granted 2090, address phase 2100,
// sampled 2140 (the line is on its way) and 2160. CPU 0's data comes at 2190, is at the pins at 2200, and the load is over at
// 2206.
TEST_P(Spin, SeesTheChangeWithTheLoadThatMissesBecauseOfIt) {
  SmallMachine small(small_machine(2), engine());
  small.run({store_at_2000, [](Cpu& cpu) {
               cpu.load(kLine);
               wait_until(cpu, 1000);
               cpu.spin_until(kLine, [](Value value) { return value == 1; });
               EXPECT_EQ(cpu.now_ns(), 2206);
               EXPECT_EQ(cpu.counters().by_function[0].hits[0][0], 268) << "(2072 - 1000) / 4";
               EXPECT_EQ(cpu.counters().by_function[0].misses, 2);
               EXPECT_EQ(cpu.counters().by_function[0].instructions, 1 + 3 * 268 + 1) << "load, compare, branch";
             }});
}

// CPU 1's loads are 4 + 40 cycles apart: at 1000, ..., 2056, 2100. The last one misses: stamped 2110, granted 2120, address
// phase 2130, snooped 2170. CPU 0's data comes at 2200, is at the pins at 2210, and the load is over at 2216.
TEST_P(Spin, WithALongPauseLooksLessOften) {
  MachineSpec spec = small_machine(2);
  spec.cpu.pause_cycles = 40;
  SmallMachine small(spec, engine());
  small.run({store_at_2000, [](Cpu& cpu) {
               cpu.load(kLine);
               wait_until(cpu, 1000);
               cpu.spin_until(kLine, [](Value value) { return value == 1; });
               EXPECT_EQ(cpu.now_ns(), 2216);
               EXPECT_EQ(cpu.counters().by_function[0].hits[0][0], 25);
             }});
}

// When CPU 1 leaves a loop that waited for the store at 2000, on a machine with spin_exit_cycles = 15. Also the cost of a
// second loop that need not wait.
struct Left {
  double at = 0, without_waiting = 0;
};
Left leave_loop(const EngineSpec& engine, Cpu::Loop loop) {
  MachineSpec spec = small_machine(2);
  spec.cpu.spin_exit_cycles = 15;
  SmallMachine small(spec, engine);
  Left left;
  small.run({store_at_2000, [&left, loop](Cpu& cpu) {
               cpu.load(kLine);
               wait_until(cpu, 1000);
               const auto written = [](Value value) { return value == 1; };
               cpu.spin_until(kLine, written, 8, loop);
               left.at = cpu.now_ns();
               left.without_waiting = cycles_from(cpu, 3000, [&] { cpu.spin_until(kLine, written, 8, loop); });
             }});
  return left;
}

// The last load is done at 2206, as above; then the core discards the loads after it.
TEST_P(Spin, ThatHasWaitedWithoutAPauseFlushesItsPipeline) {
  const Left left = leave_loop(engine(), Cpu::Loop::tight);
  EXPECT_EQ(left.at, 2206 + 15);
  EXPECT_EQ(left.without_waiting, 2) << "a hit";
}

// A loop that pauses has no loads under way.
TEST_P(Spin, ThatPausesLeavesItsLoopAtOnce) {
  EXPECT_EQ(leave_loop(engine(), Cpu::Loop::pauses).at, 2206);
}

// The sender is busy for 30 cycles; then the IPI leaves, arrives 100 later, and its handler begins 50 after that.
TEST(Interrupts, SendingOneTakesItsTime) {
  MachineSpec spec = small_machine(2);
  spec.cpu.ipi_send_cycles = 30;
  SmallMachine small(spec);
  double handled = 0;
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.send_ipi(CpuId(1), 1); }), 30); },
             [&handled](Cpu& cpu) {
               cpu.set_interrupt_handler([&handled](Cpu& self, int) { handled = self.now_ns(); });
               cpu.compute(5000);
               cpu.now();
             }});
  EXPECT_EQ(handled, 2000 + 30 + 100 + 50);
}

// Invalidates page by page up to the ceiling, and above it the whole TLB at once.
TEST(Pages, AreDroppedOneByOneOrAllAtOnce) {
  MachineSpec spec = small_machine(1);
  spec.cpu.page_invalidation_cycles = 100;
  spec.cpu.tlb_flush_cycles = 250;
  spec.cpu.tlb_flush_ceiling_pages = 5;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.invalidate_pages(kLine, 5); }), 500);
    EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.invalidate_pages(kLine, 6); }), 250);
  }});
}

// The loop reads two words on two lines: loads at 1000 and 1002, the loop's 2 cycles, loads at 1006 and 1008, and so on with
// a period of 6. The second word changes; the store to it is snooped at 2070. The word's loads are at 1002 + 6 k, so the next
// one is due at 2070. The snoop comes first, so this load misses: stamped 2080, granted 2090, and done at 2206 as above.
TEST_P(Spin, OnTwoWordsGoesOnWithTheWordWhoseTurnItIs) {
  SmallMachine small(small_machine(2), engine());
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.store(kLine + 32, 1);
             },
             [](Cpu& cpu) {
               const std::array<Address, 2> words = {kLine, kLine + 32};
               std::array<Value, 2> values{};
               cpu.load(words[0]);
               cpu.load(words[1]);
               wait_until(cpu, 1000);
               cpu.spin_until_any(words, values, [](std::span<const Value> now) { return now[1] == 1; });
               EXPECT_EQ(cpu.now_ns(), 2206);
             }});
}

// CPU 1 in the next two tests: spins from 1000 on, and is interrupted at 1499. Returns the time of its handler.
double time_of_handler(SmallMachine& small, const Core::Program& other, bool by_timer) {
  double handled = 0;
  small.run({other, [&handled, by_timer](Cpu& cpu) {
               cpu.set_interrupt_handler([&handled](Cpu& self, int) { handled = self.now_ns(); });
               cpu.load(kLine);
               wait_until(cpu, 1000);
               if (by_timer) cpu.set_timer(499, 3);
               cpu.spin_until(kLine, [](Value value) { return value == 1; });
               EXPECT_EQ(cpu.now_ns(), 2206);
               EXPECT_EQ(cpu.counters().by_function[0].hits[0][0], (1500 - 1000) / 4 + (2070 - 1550) / 4);
             }});
  return handled;
}

// The handler starts between the loads at 1496 and 1500: it splits the loop's pause, from 1498 to 1500, at 1499. It takes 50
// cycles to reach the handler, which does nothing; then the pause's last cycle follows. The next load is at 1550, and then
// there is one every fourth cycle. The store is snooped at 2070, as above, which is 1550 + 4 * 130. The snoop comes first, so
// the load of that time misses.
TEST_P(Spin, AnInterruptSplitsThePauseOfTheLoop) {
  SmallMachine small(small_machine(2), engine());
  const auto send = [](Cpu& cpu) {
    wait_until(cpu, 1399);
    cpu.send_ipi(CpuId(1), 3);
    store_at_2000(cpu);
  };
  EXPECT_EQ(time_of_handler(small, send, false), 1549);
}

// A timer set before the spin begins splits its pause at the same time as an interrupt from another CPU, and does not keep the
// spin from being parked until then.
TEST_P(Spin, ATimerSplitsThePauseOfTheLoop) {
  SmallMachine small(small_machine(2), engine());
  const auto look = [&small](Cpu& cpu) {
    wait_until(cpu, 1400);
    EXPECT_EQ(cpu.now_ns(), 1400);
    EXPECT_EQ(small.machine.cpu(1).awaited_words().empty(), !GetParam());
    store_at_2000(cpu);
  };
  EXPECT_EQ(time_of_handler(small, look, true), 1549);
}

// The same in the very first pause, before the spin could be parked for a single load: 1002 to 1004, split at 1003.
TEST_P(Spin, AnInterruptSplitsTheFirstPauseToo) {
  SmallMachine small(small_machine(2), engine());
  double handled = 0;
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 903);
               cpu.send_ipi(CpuId(1), 3);
               wait_until(cpu, 2000);
               cpu.store(kLine, 1);
             },
             [&handled](Cpu& cpu) {
               cpu.set_interrupt_handler([&handled](Cpu& self, int) { handled = self.now_ns(); });
               cpu.load(kLine);
               wait_until(cpu, 1000);
               cpu.spin_until(kLine, [](Value value) { return value == 1; });
             }});
  EXPECT_EQ(handled, 1053);
}

// At 2200 the computation of 1000 cycles is split: 50 to the handler, 30 in it, then the remaining 800.
TEST(Interrupt, SplitsAComputation) {
  SmallMachine small(small_machine(1));
  double handled = 0;
  small.run({[&handled](Cpu& cpu) {
    cpu.set_interrupt_handler([&handled](Cpu& self, int vector) {
      EXPECT_EQ(vector, 4);
      handled = self.now_ns();
      self.compute(30);
    });
    wait_until(cpu, 2000);
    cpu.set_timer(200, 4);
    cpu.compute(1000);
    EXPECT_EQ(cpu.now_ns(), 3080);
  }});
  EXPECT_EQ(handled, 2250);
}

// An access is not split: the miss from 2000 to 2146 ends first.
TEST(Interrupt, WaitsForTheEndOfAnAccess) {
  SmallMachine small(small_machine(1));
  double handled = 0;
  small.run({[&handled](Cpu& cpu) {
    cpu.set_interrupt_handler([&handled](Cpu& self, int) { handled = self.now_ns(); });
    wait_until(cpu, 1950);
    cpu.set_timer(100, 4);
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146 + 50);
  }});
  EXPECT_EQ(handled, 2196);
}

// CPU 0's IPI leaves at 2000 and arrives at 2100; the handler's first instruction is 50 cycles later. CPU 0 continues
// immediately.
TEST(Interrupt, AnIpiTakesItsLatencyAndTheTargetsEntry) {
  SmallMachine small(small_machine(2));
  double handled = 0;
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.send_ipi(CpuId(1), 1); }), 0); },
             [&handled](Cpu& cpu) {
               cpu.set_interrupt_handler([&handled](Cpu& self, int) { handled = self.now_ns(); });
               cpu.compute(5000);
               EXPECT_EQ(cpu.now_ns(), 5050);
             }});
  EXPECT_EQ(handled, 2150);
}

// A device works for CPU 0 from 2000, for 1000 ns, and then interrupts CPU 1 at 3000; and itself at 4000.
TEST(Interrupt, OfADeviceComesWhenTheDeviceIsReady) {
  SmallMachine small(small_machine(2));
  std::vector<double> handled(2);
  const auto handler = [&handled](Cpu& self, int) { handled[static_cast<std::size_t>(self.id().value)] = self.now_ns(); };
  small.run({[&handler](Cpu& cpu) {
               cpu.set_interrupt_handler(handler);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.interrupt_later(CpuId(1), 1, 1000); }), 0);
               EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.interrupt_later(CpuId(0), 1, 1000); }), 0);
               cpu.compute(5000);
               cpu.now();
             },
             [&handler](Cpu& cpu) {
               cpu.set_interrupt_handler(handler);
               cpu.compute(5000);
               cpu.now();
             }});
  EXPECT_EQ(handled, (std::vector<double>{4050, 3050}));
}

// The device is ready sooner than an IPI would arrive, which takes 100 ns.
TEST(Interrupt, OfADeviceIsNoFasterThanAnIpi) {
  SmallMachine small(small_machine(2));
  std::vector<double> handled(2);
  const auto handler = [&handled](Cpu& self, int) { handled[static_cast<std::size_t>(self.id().value)] = self.now_ns(); };
  small.run({[&handler](Cpu& cpu) {
               cpu.set_interrupt_handler(handler);
               wait_until(cpu, 2000);
               cpu.interrupt_later(CpuId(1), 1, 99);
               cpu.interrupt_later(CpuId(0), 1, 0);
               cpu.compute(1000);
               cpu.now();
             },
             [&handler](Cpu& cpu) {
               cpu.set_interrupt_handler(handler);
               cpu.compute(5000);
               cpu.now();
             }});
  EXPECT_EQ(handled, (std::vector<double>{2150, 2150}));
}

// Of two interrupts from one sender, the one due first comes first, whichever was requested first.
TEST(Interrupt, OfDevicesComeInTheOrderInWhichTheyAreDue) {
  SmallMachine small(small_machine(2));
  std::vector<int> handled;
  small.run({[](Cpu& cpu) {
               cpu.interrupt_later(CpuId(1), 1, 3000);
               cpu.interrupt_later(CpuId(1), 2, 1000);
               cpu.interrupt_later(CpuId(1), 3, 3000);
             },
             [&handled](Cpu& cpu) {
               cpu.set_interrupt_handler([&handled](Cpu&, int vector) { handled.push_back(vector); });
               cpu.compute(5000);
               cpu.now();
             }});
  EXPECT_EQ(handled, (std::vector<int>{2, 1, 3}));
}

// Two interrupts arrive at the same time: the lower sender's comes first. The second waits until the first's handler is done.
TEST(Interrupt, OfTwoAtOneTimeTheLowerSenderIsFirst) {
  SmallMachine small(small_machine(3));
  std::vector<std::pair<int, double>> handled;
  const auto send = [](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.send_ipi(CpuId(0), cpu.id().value);
  };
  small.run({[&handled](Cpu& cpu) {
               cpu.set_interrupt_handler([&handled](Cpu& self, int vector) {
                 handled.emplace_back(vector, self.now_ns());
                 self.compute(30);
               });
               cpu.compute(5000);
               EXPECT_EQ(cpu.now_ns(), 5000 + 2 * 80);
             },
             send, send});
  EXPECT_EQ(handled, (std::vector<std::pair<int, double>>{{1, 2150}, {2, 2230}}));
}

// Interrupts are disabled from 2000 to 3000; the timer, due at 2200, is handled at 3000.
TEST(Interrupt, WaitsWhileTheyAreDisabled) {
  SmallMachine small(small_machine(1));
  double handled = 0;
  small.run({[&handled](Cpu& cpu) {
    cpu.set_interrupt_handler([&handled](Cpu& self, int) { handled = self.now_ns(); });
    wait_until(cpu, 2000);
    cpu.set_timer(200, 4);
    cpu.disable_interrupts();
    cpu.compute(1000);
    cpu.enable_interrupts();
    cpu.compute(100);
    EXPECT_EQ(cpu.now_ns(), 3150);
  }});
  EXPECT_EQ(handled, 3050);
}

TEST(Interrupt, DisablingKeepsOutOnlyWhatComesLater) {
  SmallMachine small(small_machine(1));
  double handled = 0;
  small.run({[&handled](Cpu& cpu) {
    cpu.set_interrupt_handler([&handled](Cpu& self, int) { handled = self.now_ns(); });
    wait_until(cpu, 2000);
    cpu.set_timer(200, 4);
    cpu.compute(1000);
    cpu.disable_interrupts();
    EXPECT_EQ(cpu.now_ns(), 3050);
  }});
  EXPECT_EQ(handled, 2250);
}

TEST(Sleep, EndsTheIpiLatencyAfterTheWake) {
  SmallMachine small(small_machine(2));
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.wake(CpuId(1));
             },
             [](Cpu& cpu) {
               wait_until(cpu, 500);
               cpu.sleep();
               EXPECT_EQ(cpu.now_ns(), 2100);
               EXPECT_EQ(cpu.counters().asleep(), 16000) << "ticks of 0.1 ns";
             }});
}

TEST(Sleep, ReturnsAtOnceIfTheWakeCameBefore) {
  SmallMachine small(small_machine(2));
  small.run(
      {[](Cpu& cpu) { cpu.wake(CpuId(1)); }, [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.sleep(); }), 0); }});
}

// The interrupt is handled, but the sleep lasts until the wake-up: the timer's handler from 2000, wake-up at 3000 + 100.
TEST(Sleep, IsNotEndedByAnInterrupt) {
  SmallMachine small(small_machine(2));
  double handled = 0;
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 3000);
               cpu.wake(CpuId(1));
             },
             [&handled](Cpu& cpu) {
               cpu.set_interrupt_handler([&handled](Cpu& self, int) { handled = self.now_ns(); });
               cpu.set_timer(2000, 1);
               cpu.sleep();
               EXPECT_EQ(cpu.now_ns(), 3100);
             }});
  EXPECT_EQ(handled, 2050);
}

// The microsecond from 1000 on is measured. A CPU that sleeps or computes at its end counts until then; one that has ended
// counts nothing.
TEST(MeasuredTime, IsAccountedToItsEnd) {
  SmallMachine small(small_machine(3), {}, 1.0, 1.0);
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 1300);
               cpu.sleep();
             },
             [](Cpu& cpu) {
               for (;;) cpu.compute(700);
             },
             [](Cpu& cpu) { wait_until(cpu, 1300); }});
  const auto ns = [&small](int cpu) {
    const ThreadCounters& counters = small.machine.cpu(cpu).counters();
    return std::pair(counters.time_in_function[0] / 10, counters.asleep() / 10);
  };
  EXPECT_EQ(ns(0), std::pair(Tick{300}, Tick{700}));
  EXPECT_EQ(ns(1), std::pair(Tick{1000}, Tick{0}));
  EXPECT_EQ(ns(2), std::pair(Tick{300}, Tick{0}));
}

// The line of the prefetch at 2000 arrives at 2145.
TEST(Prefetch, HidesTheWholeLatencyIfItComesEarlyEnough) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.prefetch(kLine); }), 1);
    EXPECT_EQ(cycles_from(cpu, 2200, [&] { cpu.load(kLine); }), 2);
  }});
  EXPECT_EQ(small.transactions(), 1);
}

TEST(Prefetch, HidesAPartOfTheLatencyIfItComesLate) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.prefetch(kLine);
    EXPECT_EQ(cycles_from(cpu, 2100, [&] { cpu.load(kLine); }), 45 + 2);
  }});
}

TEST(Prefetch, ToWriteBringsTheRightToWrite) {
  SmallMachine small(small_machine(2));
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               wait_until(cpu, 2000);
               cpu.prefetch(kLine, kWriteAccess);
               EXPECT_EQ(cycles_from(cpu, 2200, [&] { cpu.store(kLine, 1); }), 1);
             },
             [](Cpu& cpu) { cpu.load(kLine); }});
  EXPECT_EQ(small.transactions(), 3);
}

// Two prefetches are under way, the core's maximum. The load must wait until the first is filled, at 2145.
TEST(Prefetch, TakesUpOneOfTheCoresOutstandingMisses) {
  MachineSpec spec = small_machine(1);
  spec.cpu.outstanding_misses = 2;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.prefetch(kLine);
    cpu.prefetch(kLine + 32);
    // From 2145 on, when the first line has arrived: stamped 2155, granted 2160, and 126 ns from there.
    EXPECT_EQ(cycles_from(cpu, 2002, [&] { cpu.load(kLine + 64); }), 2286 - 2002);
  }});
}

// With three instructions per cycle, 7 take 2 cycles and leave 2 free slots in the next.
TEST(Execute, RetiresInstructionsAtTheIssueWidth) {
  MachineSpec spec = small_machine(1);
  spec.cpu.issue_per_cycle = 3;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 100, [&] { cpu.execute(7); }), 2);
    EXPECT_EQ(cycles_from(cpu, 200,
                          [&] {
                            for (int i = 0; i < 300; ++i) cpu.execute(1);
                          }),
              100);
  }});
}

}  // namespace
}  // namespace linebounce::test
