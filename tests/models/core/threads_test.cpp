// Two hardware threads that share their core's caches: CPUs 0 and 1.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/models/support/small_machine.hpp"
#include "tests/support/expect_reached.hpp"

namespace linebounce::test {
namespace {

MachineSpec two_threads() {
  MachineSpec spec = small_machine(2);
  spec.cpu.threads_per_core = 2;
  return spec;
}

TEST(HardwareThreads, ALineFetchedByOneThreadIsAHitForItsSibling) {
  SmallMachine small(two_threads());
  small.run({[](Cpu& cpu) { cpu.store(kLine, 5); },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 5U); }), 2); }});
  EXPECT_EQ(small.transactions(), 1);
}

// A spin is parked even though a sibling could evict its line from the shared cache.
TEST(HardwareThreads, ASpinIsParkedBesideASibling) {
  MachineSpec spec = two_threads();
  for (CacheSpec& cache : spec.caches) cache.replacement = Replacement::tree_plru;
  SmallMachine small(spec);
  small.run({[&small](Cpu& cpu) {
               wait_until(cpu, 2000);
               EXPECT_EQ(cpu.now_ns(), 2000);
               EXPECT_FALSE(small.machine.cpu(1).awaited_words().empty());
               cpu.store(kLine, 1);
             },
             [](Cpu& cpu) { cpu.spin_until(kLine, [](Value value) { return value == 1; }); }});
}

// CPU 0's operation holds the line from 2000 to 2020; then CPU 1's load, at 2005, takes the 2 cycles of a hit: 15 + 2.
TEST(HardwareThreads, ALockedLineKeepsTheSiblingWaiting) {
  const ExpectReached mark{"siblings_atomic_locks_line"};
  SmallMachine small(two_threads());
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 5);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.fetch_add(kLine, 1); }), 20);
             },
             [](Cpu& cpu) {
               EXPECT_EQ(cycles_from(cpu, 2005, [&] { EXPECT_EQ(cpu.load(kLine), 6U); }), 17);
               EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.load(kLine); }), 2);
             }});
}

MachineSpec half_speed() {
  MachineSpec spec = two_threads();
  spec.cpu.shared_issue_pct = 50;
  return spec;
}

// Measures how long 1000 cycles of computation take after another `before` cycles.
Core::Program timed_computation(double& taken, std::int64_t before = 0) {
  return [&taken, before](Cpu& cpu) {
    cpu.compute(before);
    const double begin = cpu.now_ns();
    cpu.compute(1000);
    taken = cpu.now_ns() - begin;
  };
}

TEST(IssueSlots, TwoThatComputeTakeTwiceAsLongEach) {
  SmallMachine small(half_speed());
  double first = 0;
  double second = 0;
  small.run({timed_computation(first), timed_computation(second)});
  EXPECT_EQ(first, 2000);
  EXPECT_EQ(second, 2000);
}

// A computation gets its share of the issue slots when it begins. CPU 0's begins beside CPU 1's, which ends at 500 (250
// cycles at half speed). CPU 0's stays at half speed to its own end.
TEST(IssueSlots, TheSpeedIsDecidedWhenItBegins) {
  SmallMachine small(half_speed());
  double beside = 0;
  small.run({timed_computation(beside, 10), [](Cpu& cpu) { cpu.compute(250); }});
  EXPECT_EQ(beside, 2000);
}

TEST(IssueSlots, AnEndedThreadTakesNone) {
  SmallMachine small(half_speed());
  double alone = 0;
  small.run({timed_computation(alone, 500), [](Cpu& cpu) { cpu.compute(250); }});
  EXPECT_EQ(alone, 1000);
}

// CPU 1's load misses at 0 and is done at 146. A thread that waits for a line uses no issue slots when CPU 0's computation
// begins.
TEST(IssueSlots, AThreadThatWaitsForALineTakesNone) {
  SmallMachine small(half_speed());
  double computing = 0;
  small.run({timed_computation(computing, 10), [](Cpu& cpu) { cpu.load(kLine); }});
  EXPECT_EQ(computing, 1000);
}

class SpinningSibling : public testing::TestWithParam<bool> {};

// A loop that pauses uses no issue slots, whether the spin is simulated or parked.
TEST_P(SpinningSibling, TakesNoIssueSlotsWhileItPauses) {
  SmallMachine small(half_speed(), {.parked_spins = GetParam()});
  double computing = 0;
  small.run({[&](Cpu& cpu) {
               timed_computation(computing, 500)(cpu);
               cpu.store(kLine, 1);
             },
             [](Cpu& cpu) { cpu.spin_until(kLine, [](Value value) { return value == 1; }); }});
  EXPECT_EQ(computing, 1000);
}

// Returns how long 1000 cycles of computation take from 500 on, beside a sibling that spins in this kind of loop.
double computing_beside(Cpu::Loop loop, bool parked) {
  MachineSpec spec = two_threads();
  spec.cpu.spinning_sibling_pct = 50;
  spec.cpu.pausing_sibling_pct = 80;
  SmallMachine small(spec, {.parked_spins = parked});
  double computing = 0;
  small.run({[&](Cpu& cpu) {
               timed_computation(computing, 500)(cpu);
               cpu.store(kLine, 1);
             },
             [loop](Cpu& cpu) {
               cpu.spin_until(
                   kLine, [](Value value) { return value == 1; }, 8, loop);
             }});
  return computing;
}

// The computation keeps 50 % of its speed beside a tight loop, 80 % beside one that pauses: 1000 / 0.5 and 1000 / 0.8.
TEST_P(SpinningSibling, TakesItsShareOfIssueSlotsWithoutAPause) {
  EXPECT_EQ(computing_beside(Cpu::Loop::tight, GetParam()), 2000);
}
TEST_P(SpinningSibling, GivesIssueSlotsBackByAPause) {
  EXPECT_EQ(computing_beside(Cpu::Loop::pauses, GetParam()), 1250);
}

// CPU 1's loop begins with a miss that is done at 146. It uses no issue slots when CPU 0's computation begins.
TEST_P(SpinningSibling, TakesNoIssueSlotsWhileItsWordIsOnTheWay) {
  MachineSpec spec = two_threads();
  spec.cpu.spinning_sibling_pct = 50;
  SmallMachine small(spec, {.parked_spins = GetParam()});
  double computing = 0;
  small.run({[&](Cpu& cpu) {
               timed_computation(computing, 10)(cpu);
               cpu.store(kLine, 1);
             },
             [](Cpu& cpu) {
               cpu.spin_until(
                   kLine, [](Value value) { return value == 1; }, 8, Cpu::Loop::tight);
             }});
  EXPECT_EQ(computing, 1000);
}

// The handler interrupts CPU 1's spin and computes from 550 on, beyond the end of CPU 0's computation. So CPU 1 counts as
// computing, not as spinning.
TEST_P(SpinningSibling, InAHandlerComputesLikeAnyOther) {
  SmallMachine small(half_speed(), {.parked_spins = GetParam()});
  double computing = 0;
  small.run({[&](Cpu& cpu) {
               timed_computation(computing, 600)(cpu);
               cpu.store(kLine, 1);
             },
             [](Cpu& cpu) {
               cpu.set_interrupt_handler([](Cpu& self, int) { self.compute(5000); });
               cpu.set_timer(500, 0);
               cpu.spin_until(kLine, [](Value value) { return value == 1; });
             }});
  EXPECT_EQ(computing, 2000);
}

INSTANTIATE_TEST_SUITE_P(Parked, SpinningSibling, testing::Bool());

TEST(HardwareThreads, AnotherLineIsNotLocked) {
  SmallMachine small(two_threads());
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 5);
               cpu.store(kLine + 32, 5);
               wait_until(cpu, 2000);
               cpu.fetch_add(kLine, 1);
             },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2005, [&] { cpu.load(kLine + 32); }), 2); }});
}

// Of two operations due at once, the one of the CPU with the lower number is first. CPU 0's holds the line from 2000 to 2020,
// CPU 1's from 2020 to 2040.
TEST(HardwareThreads, OfTwoAtomicOperationsAtOneTimeTheLowerNumberIsFirst) {
  SmallMachine small(two_threads());
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 0);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.fetch_add(kLine, 1), 0U); }), 20);
             },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.fetch_add(kLine, 1), 1U); }), 40); }});
}

// Because CPU 2 shares the line, CPU 0's operation needs an upgrade. The order step gives CPU 0 the right to write before its
// operation runs. If CPU 1's operation begins in between, the two must not overlap: they end at least 20 cycles apart.
TEST(HardwareThreads, AtomicOperationsDoNotOverlapWhereOneHasWaitedForTheRight) {
  const ExpectReached mark{"atomic_after_siblings_miss"};
  constexpr std::size_t kRounds = 120;  // In each round CPU 1 begins one cycle later than in the round before.
  MachineSpec spec = small_machine(4);
  spec.cpu.threads_per_core = 2;
  spec.cpu_order = CpuOrder::fill;
  SmallMachine small(spec);
  std::array<std::array<double, kRounds>, 2> ended{};
  const auto adds = [&ended](std::size_t number) {
    return [&ended, number](Cpu& cpu) {
      for (std::size_t round = 0; round < kRounds; ++round) {
        const auto begin = static_cast<double>(2000 * (round + 1) + number * round);
        cycles_from(cpu, begin, [&cpu] { cpu.fetch_add(kLine, 1); });
        ended[number][round] = cpu.now_ns();
      }
    };
  };
  const auto shares = [](Cpu& cpu) {
    for (std::size_t round = 0; round < kRounds; ++round) {
      cycles_from(cpu, static_cast<double>(2000 * (round + 1) - 500), [&cpu] { cpu.load(kLine); });
    }
  };
  small.run({adds(0), adds(1), shares, [](Cpu&) {}});
  for (std::size_t round = 0; round < kRounds; ++round) {
    EXPECT_GE(std::abs(ended[1][round] - ended[0][round]), 20) << "CPU 1 has begun " << round << " cycles later";
  }
}

// CPU 0's miss on one line is ordered at 2070, so at 2100 its fill at 2145 is known. CPU 1's operation on another line, which
// the core has, need not wait for it.
TEST(HardwareThreads, AnAtomicOperationDoesNotWaitForASiblingsMissOnAnotherLine) {
  SmallMachine small(two_threads());
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146); },
             [](Cpu& cpu) {
               cpu.store(kLine + 32, 5);
               EXPECT_EQ(cycles_from(cpu, 2100, [&] { cpu.fetch_add(kLine + 32, 1); }), 20);
             }});
}

// CPU 1's operation, due at 2005, waits for the line until 2020. CPU 0's second operation is also due at 2020 but must come
// after it, although CPU 0 has the lower number. So CPU 0's five operations take as long as six.
TEST(HardwareThreads, AnOperationThatWaitsIsNotPassedByALaterOne) {
  SmallMachine small(two_threads());
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 0);
               EXPECT_EQ(cycles_from(cpu, 2000,
                                     [&] {
                                       for (int i = 0; i < 5; ++i) cpu.fetch_add(kLine, 1);
                                     }),
                         6 * 20);
             },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2005, [&] { EXPECT_EQ(cpu.fetch_add(kLine, 1), 1U); }), 35); }});
}

// One miss may be outstanding. CPUs 0 and 1 miss again and again; CPU 2 gets its turn after one miss of each.
TEST(HardwareThreads, AMissThatWaitsIsNotPassedByLaterOnes) {
  MachineSpec spec = small_machine(3);
  spec.cpu.threads_per_core = 3;
  spec.cpu.outstanding_misses = 1;
  SmallMachine small(spec);
  const Core::Program misses = [](Cpu& cpu) {
    wait_until(cpu, 2000);
    for (Address line = 0; line < 50; ++line)
      cpu.load(Address{0x100000} * static_cast<Address>(1 + cpu.id().value) + line * 32);
  };
  small.run({misses, misses, [](Cpu& cpu) {
               const double taken = cycles_from(cpu, 2000, [&] { cpu.load(kLine); });
               EXPECT_LT(taken, 3 * 160) << "behind one miss of each of the others";
             }});
}

// One miss may be outstanding, so CPU 1's load, issued at 0, waits until CPU 0's line arrives. The miss's latency includes
// that wait.
TEST(HardwareThreads, AMissThatWaitsCountsFromItsFirstAttempt) {
  MachineSpec spec = two_threads();
  spec.cpu.outstanding_misses = 1;
  SmallMachine small(spec);
  double over = 0;
  small.run({[](Cpu& cpu) { cpu.load(kLine); },
             [&over](Cpu& cpu) {
               cpu.load(kLine + 0x100);
               over = cpu.now_ns();
             }});
  ASSERT_EQ(small.misses().size(), 2U);
  EXPECT_EQ(small.misses()[1].issued, 0);
  EXPECT_EQ(small.machine.timebase().to_ns(small.misses()[1].latency), over - 1);
}

// One miss may be outstanding. CPU 1's load, issued at 2050, gets its MSHR when CPU 0's line arrives at 2145: it waits 95 for
// the core, and is done as late as a load that is issued then.
TEST(HardwareThreads, AMissThatWaitsForAnMshrReportsThatWait) {
  MachineSpec spec = two_threads();
  spec.cpu.outstanding_misses = 1;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146); },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2050, [&] { cpu.load(kLine + 0x100); }), 2286 - 2050); }});
  ASSERT_EQ(small.misses().size(), 2U);
  const Timebase& timebase = small.machine.timebase();
  EXPECT_EQ(small.misses()[0].waits, Waits());
  EXPECT_EQ(timebase.to_ns(small.misses()[1].waits[Resource::core]), 95);
  EXPECT_EQ(small.misses()[1].waits.total(), small.misses()[1].waits[Resource::core]) << "the bus is idle by then";
  EXPECT_LE(small.misses()[1].waits.total(), small.misses()[1].latency);
}

// CPU 1's load, issued at 2050, hits in the line that CPU 0's miss brings at 2145. All its latency is that wait.
TEST(HardwareThreads, AMissThatJoinsAnothersReportsTheWaitForItsFill) {
  SmallMachine small(two_threads());
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146); },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2050, [&] { cpu.load(kLine + 8); }), 97); }});
  ASSERT_EQ(small.misses().size(), 2U);
  EXPECT_EQ(small.machine.timebase().to_ns(small.misses()[1].waits[Resource::core]), 95);
  EXPECT_EQ(small.misses()[1].waits.total(), small.misses()[1].latency);
}

// CPU 0's line arrives at 2145, and its load is done at 2146. CPU 1's load of the same line at 2050 waits for that fill, and
// then takes the 2 cycles of a hit: 95 + 2.
TEST(HardwareThreads, AMissOfTheSameLineIsJoined) {
  SmallMachine small(two_threads());
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146); },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2050, [&] { cpu.load(kLine + 8); }), 97); }});
  EXPECT_EQ(small.transactions(), 1);
}

// L1 and L2 have one way, so CPU 1's load needs the line that CPU 0's operation holds until 2030. It waits 20 and then takes
// as long as a miss at 2030, 146, plus 10 for the victim (below).
TEST(HardwareThreads, AMissThatFindsOnlyALockedLineWaitsForTheEndOfTheLock) {
  const ExpectReached mark{"victims_locked"};
  MachineSpec spec = two_threads();
  spec.caches[0].size_kib = 1;
  spec.caches[0].ways = 1;
  spec.caches[1].size_kib = 1;
  spec.caches[1].ways = 1;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               wait_until(cpu, 2000);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.compare_exchange(kLine, 1, 2); }), 30);
             },
             [](Cpu& cpu) {
               // The victim is dirty. Its PutM delays the miss's address phase by one clock.
               EXPECT_EQ(cycles_from(cpu, 2010, [&] { cpu.load(kLine + kSetStride); }), 20 + 146 + 10);
             }});
}

// CPU 0's operation holds the line until 2020. Then CPU 1's buffered store reaches the cache, and its fence takes 8.
TEST(HardwareThreads, AStoreInTheBufferWaitsForTheEndOfASiblingsLock) {
  const ExpectReached mark{"drain_retried_at_unlock"};
  MachineSpec spec = two_threads();
  spec.cpu.consistency = Consistency::tso;
  spec.cpu.store_buffer_entries = 2;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               cpu.fetch_add(kLine, 1);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.fetch_add(kLine, 1), 1U); }), 20);
             },
             [](Cpu& cpu) {
               wait_until(cpu, 2005);
               cpu.store(kLine, 7);
               EXPECT_EQ(cpu.now_ns(), 2006);
               cpu.fence();
               EXPECT_GE(cpu.now_ns(), 2020 + 8);
               EXPECT_EQ(cpu.load(kLine), 7U);
             }});
}

// The sibling's loads evict the spin's line, which is the least recently used one in L2, because L2 does not see the spin's
// hits in L1. The spin fetches the line again and continues.
TEST(HardwareThreads, ASpinWhoseLineASiblingEvictsFetchesItAgain) {
  const ExpectReached mark{"spun_on_line_evicted"};
  SmallMachine small(two_threads());
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               for (Address line = 1; line <= 8; ++line) cpu.load(kLine + line * kSetStride);
               cpu.store(kLine, 1);
             },
             [](Cpu& cpu) { EXPECT_EQ(cpu.spin_until(kLine, [](Value value) { return value == 1; }), 1U); }});
}

// Both words fall into the same set of L1, which has one way, so one of them is always missing.
TEST(Spins, OnWordsThatEvictEachOtherAreNotParked) {
  const ExpectReached mark{"spin_cannot_park"};
  MachineSpec spec = small_machine(2);
  spec.caches[0].ways = 1;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               const std::array<Address, 2> words{kLine, kLine + kSetStride};
               std::array<Value, 2> values{};
               cpu.spin_until_any(words, values, [](std::span<const Value> seen) { return seen[1] == 1; });
               EXPECT_EQ(values[1], 1U);
             },
             [](Cpu& cpu) {
               wait_until(cpu, 3000);
               cpu.store(kLine + kSetStride, 1);
             }});
}

// CPU 1 loads at 2000, 2004 and so on: 2 cycles for the load, 2 for the loop. CPU 0, its sibling, stores 1 at 2101 and 2 at
// 2105. The load at 2104 must see the 1.
template <bool parked>
void sibling_wakes_a_spin() {
  EngineSpec engine;
  engine.parked_spins = parked;
  SmallMachine small(two_threads(), engine);
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 0);
               wait_until(cpu, 2101);
               cpu.store(kLine, 1);
               cpu.compute(3);
               cpu.store(kLine, 2);
             },
             [](Cpu& cpu) {
               wait_until(cpu, 2000);
               EXPECT_EQ(cpu.spin_until(kLine, [](Value value) { return value != 0; }), 1U);
               EXPECT_EQ(cpu.now_ns(), 2106) << "the load at 2104, and its 2 cycles";
             }});
}

TEST(HardwareThreads, ASpinSeesTheSiblingsStoreAtItsNextLoadWhenParked) {
  sibling_wakes_a_spin<true>();
}
TEST(HardwareThreads, ASpinSeesTheSiblingsStoreAtItsNextLoadWhenNotParked) {
  sibling_wakes_a_spin<false>();
}

}  // namespace
}  // namespace linebounce::test
