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

// CPU 1 loads at 1000, 1004, 1008 and so on: a hit of 2 cycles, then 2 for the loop.
// CPU 0's store at 2000: granted 2020, snoop result 2070, memory's data at the pins 2140, starts 2145, and the line is free
// at 2146.
// CPU 1's load at 2072 misses: stamped 2082, granted 2090, address phase 2100. Its snoop is sampled at 2140, when the line is
// on its way, and at 2160. CPU 0's data comes at 2190, is at the pins at 2200; the load is done at 2206.
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

// CPU 1 loads every 4 + 40 cycles: at 1000, 1044, ..., 2056, 2100. The load at 2100 is the first after the snoop result at
// 2070, and misses: stamped 2110, granted 2120, address phase 2130, snoop result 2170, CPU 0's data 2200, at the pins 2210,
// done 2216.
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

// `at`: when CPU 1 leaves a loop that waits for the store at 2000, if spin_exit_cycles is 15. `without_waiting`: how long a
// second loop takes, whose condition holds at once.
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

// The load that sees the change is done at 2206, as above. Leaving the loop then costs 15 cycles: the core discards the loads
// that it has issued since.
TEST_P(Spin, ThatHasWaitedWithoutAPauseFlushesItsPipeline) {
  const Left left = leave_loop(engine(), Cpu::Loop::tight);
  EXPECT_EQ(left.at, 2206 + 15);
  EXPECT_EQ(left.without_waiting, 2) << "a hit";
}

// A loop that pauses has issued no later loads, so leaving it costs nothing.
TEST_P(Spin, ThatPausesLeavesItsLoopAtOnce) {
  EXPECT_EQ(leave_loop(engine(), Cpu::Loop::pauses).at, 2206);
}

// 30 to send the IPI, 100 until it arrives, 50 to its handler.
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

// Up to 5 pages (the ceiling) each costs 100 cycles. More pages cost a flush of the whole TLB, 250.
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

// The loop loads two words on two lines, with a period of 6: the first at 1000 + 6 k, the second 2 later, and 2 cycles for
// the loop. The store to the second word has its snoop result at 2070, and the load due at 2070 = 1002 + 6 * 178 comes after
// it. So that load misses: stamped 2080, granted 2090, and done at 2206 as above.
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

// In the next two tests CPU 1 spins from 1000 on and is interrupted at 1499. Returns when its handler runs.
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

// The loop's pause from 1498 to 1500 is split at 1499. The way to the handler takes 50 cycles; the handler itself does
// nothing. At 1549 the pause continues for its last cycle, so the next load is at 1550, and then one every 4 cycles. The
// snoop result is at 2070 as above. The load due at 2070 = 1550 + 4 * 130 comes after it, and misses.
TEST_P(Spin, AnInterruptSplitsThePauseOfTheLoop) {
  SmallMachine small(small_machine(2), engine());
  const auto send = [](Cpu& cpu) {
    wait_until(cpu, 1399);
    cpu.send_ipi(CpuId(1), 3);
    store_at_2000(cpu);
  };
  EXPECT_EQ(time_of_handler(small, send, false), 1549);
}

// The timer is set before the spin begins. It must split the pause like another CPU's interrupt. The spin may be parked
// although a timer is set.
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

// The same in the first pause, from 1002 to 1004, split at 1003: the spin is interrupted before its second load.
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

// The timer splits the computation of 1000 cycles at 2200. It takes 50 to the handler and 30 in it. The remaining 800 follow,
// to 3080.
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

// An access is not split: the interrupt, due at 2050, waits until the miss is done at 2146, and takes 50 to its handler.
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

// The IPI is sent at 2000 at no cost, arrives at 2100, and takes 50 to its handler. CPU 0 continues at once.
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

// CPU 0 starts a device at 2000, which interrupts CPU 1 at 3000, and another at 3000, which interrupts CPU 0 at 4000. Each
// takes 50 to its handler.
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

// A device that is ready in less than the 100 ns of an IPI interrupts as late as an IPI would: 2000 + 100, and 50 to the
// handler.
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

// The handler runs first for the interrupt that is due first. Interrupts that are due at the same time keep the order of the
// requests.
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

// Two IPIs arrive at 2100. The one from the CPU with the lower number comes first: handler from 2150 to 2180. The second
// takes 50 from there to its handler.
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

// Interrupts are disabled from 2000 to 3000. The timer is due at 2200; its interrupt begins at 3000 and takes 50 to the
// handler.
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

// The line of the prefetch arrives at 2145.
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

// The two prefetches are as many misses as the core may have outstanding. The load waits until the first line arrives, at
// 2145.
TEST(Prefetch, TakesUpOneOfTheCoresOutstandingMisses) {
  MachineSpec spec = small_machine(1);
  spec.cpu.outstanding_misses = 2;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.prefetch(kLine);
    cpu.prefetch(kLine + 32);
    // Issued 2145: stamped 2155, granted 2160, data 110 later, 10 to the pins, 5 + 1.
    EXPECT_EQ(cycles_from(cpu, 2002, [&] { cpu.load(kLine + 64); }), 2286 - 2002);
  }});
}

// The core retires three instructions per cycle. Seven take two cycles and one slot of the third; two slots of it stay free
// for the next call.
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

// A cycle issues three instructions. The prefetch takes a cycle and ends the group of the instruction before it. The two
// instructions after it begin a new group, which is not full, so they take no further cycle.
TEST(Execute, APrefetchEndsTheIssueGroup) {
  MachineSpec spec = small_machine(1);
  spec.cpu.issue_per_cycle = 3;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 100,
                          [&] {
                            cpu.execute(1);
                            cpu.prefetch(kLine);
                            cpu.execute(2);
                          }),
              1);
  }});
}

TEST(Execute, CountsItsInstructionsForTheFunctionThatExecutesThem) {
  SmallMachine small(small_machine(1));
  small.machine.set_functions(2, {});
  small.run({[](Cpu& cpu) {
    cpu.execute(3);
    const FunctionScope scope(cpu, 1);
    cpu.execute(40);
    cpu.compute(100);
  }});
  EXPECT_EQ(small.machine.cpu(0).counters().by_function[0].instructions, 3);
  EXPECT_EQ(small.machine.cpu(0).counters().by_function[1].instructions, 40) << "compute() counts none";
}

}  // namespace
}  // namespace linebounce::test
