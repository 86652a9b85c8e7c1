// Tests requests whose snoops wait at their line (bus.snoop_waits_ns), and operations of a core that wait for each other
// (cpu.replay_cycles). small_machine.hpp has the stages of an access.
#include <gtest/gtest.h>

#include <vector>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

MachineSpec waiting_snoops(int cpus, double snoop_waits_ns = 0) {
  MachineSpec spec = small_machine(cpus);
  spec.bus.one_per_line = true;
  spec.bus.snoop_waits_ns = snoop_waits_ns;
  return spec;
}

// CPU 0 adds twice from 2000 on, CPU 1 once at 2030.
struct Additions {
  Value seen_by_second = 0;  // what CPU 0's second addition found
  double other_done = 0;     // when CPU 1's addition was done
};

Additions two_and_one(const MachineSpec& spec) {
  SmallMachine small(spec);
  Additions result;
  small.run({[&result](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.fetch_add(kLine, 1);
               result.seen_by_second = cpu.fetch_add(kLine, 1);
             },
             [&result](Cpu& cpu) {
               wait_until(cpu, 2030);
               cpu.fetch_add(kLine, 1);
               result.other_done = cpu.now_ns();
             }});
  return result;
}

// CPU 0's addition runs from 2145 to 2165. Its next one begins at once, and CPU 1's snoop would only be granted at 2170.
TEST(WaitingSnoop, WithoutOneTheOwnersNextOperationGoesFirst) {
  EXPECT_EQ(two_and_one(waiting_snoops(2, -1)).seen_by_second, 1U);
}

// CPU 1's request is granted at 2110: its snoop result is due at 2160 and takes the line at 2165, before CPU 0's second
// addition. The snoop is sampled every 20, so the result is of 2180: 30 for the intervention, 10 to the pins, 5, and 20 for the
// addition.
TEST(WaitingSnoop, TakesTheLineBeforeTheOwnersNextOperation) {
  const Additions additions = two_and_one(waiting_snoops(2));
  EXPECT_EQ(additions.seen_by_second, 2U);
  EXPECT_EQ(additions.other_done, 2180 + 30 + 10 + 5 + 20);
}

// CPU 1's request has waited since 2040 when the line is free, at 2165.
TEST(WaitingSnoop, IsThereOnlyAfterTheLimit) {
  EXPECT_EQ(two_and_one(waiting_snoops(2, 125)).seen_by_second, 2U);
  EXPECT_EQ(two_and_one(waiting_snoops(2, 126)).seen_by_second, 1U);
}

// While CPU 1's request waited, it covered 20 of the 30 that a transfer takes from the snoop result to the first data.
TEST(WaitingSnoop, HasCoveredAPartOfItsWayMeanwhile) {
  MachineSpec spec = waiting_snoops(2);
  spec.bus.overlap_ns = 20;
  EXPECT_EQ(two_and_one(spec).other_done, 2180 + 10 + 10 + 5 + 20);
}

// CPU 1's request of 2100 is stamped 2110 and could be granted at 2120, for a snoop at 2170; the line is free at 2165. So it
// would have to wait only if it were there by then: it isn't, and CPU 0's second addition goes first.
TEST(WaitingSnoop, ARequestThatComesTooLateFindsTheOwnersNextOperationUnderWay) {
  const auto seen_by_second = [](double at, double overlap_ns) {
    MachineSpec spec = waiting_snoops(2);
    spec.bus.overlap_ns = overlap_ns;
    SmallMachine small(spec);
    Value seen = 0;
    small.run({[&seen](Cpu& cpu) {
                 wait_until(cpu, 2000);
                 cpu.fetch_add(kLine, 1);
                 seen = cpu.fetch_add(kLine, 1);
               },
               [at](Cpu& cpu) {
                 wait_until(cpu, at);
                 cpu.fetch_add(kLine, 1);
               }});
    return seen;
  };
  EXPECT_EQ(seen_by_second(2100, 0), 1U);
  // Stamped 2100, granted 2110: its snoop is there at 2160, or 20 later if it has more of its way to cover.
  EXPECT_EQ(seen_by_second(2090, 0), 2U);
  EXPECT_EQ(seen_by_second(2090, 20), 1U);
}

// Nobody uses the line when CPU 1 asks, so nothing overlaps: as in small_machine.hpp, 116, and 19 more for an addition.
TEST(WaitingSnoop, ARequestThatDoesNotWaitHasItsWholeWay) {
  MachineSpec spec = waiting_snoops(2);
  spec.bus.overlap_ns = 20;
  SmallMachine small(spec);
  double cycles = 0;
  small.run({[](Cpu& cpu) { cpu.store(kLine, 1); },
             [&cycles](Cpu& cpu) { cycles = cycles_from(cpu, 2000, [&] { cpu.fetch_add(kLine, 1); }); }});
  EXPECT_EQ(cycles, 116 + 19);
}

// Two nodes; CPU 1, on the other node, has the line. CPU 0 adds twice. CPU 2, on CPU 0's bus, adds once; its node's controller
// puts its request off until CPU 0 has the line.
Value second_addition_beside_a_deferred_one(double snoop_waits_ns) {
  MachineSpec spec = small_nodes(2, 4);
  spec.bus.one_per_line = true;
  spec.bus.snoop_waits_ns = snoop_waits_ns;
  SmallMachine small(spec);
  small.machine.homes().place(kLine, Home::on(0));
  Value seen = 0;
  small.run({[&seen](Cpu& cpu) {
               wait_until(cpu, 3000);
               cpu.fetch_add(kLine, 1);
               seen = cpu.fetch_add(kLine, 1);
             },
             [](Cpu& cpu) { cpu.fetch_add(kLine, 1); },
             [](Cpu& cpu) {
               wait_until(cpu, 3070);
               cpu.fetch_add(kLine, 1);
             }});
  return seen;
}

TEST(WaitingSnoop, ADeferredRequestIsAtTheLineWhenTheNodeGetsIt) {
  EXPECT_EQ(second_addition_beside_a_deferred_one(-1), 2U);
  EXPECT_EQ(second_addition_beside_a_deferred_one(0), 3U);
}

// The store leaves the buffer when its line arrives, at 2145; the exchange waits for that, and takes 20.
double exchange_behind_a_store(int replay_cycles) {
  MachineSpec spec = small_machine(1);
  spec.cpu.consistency = Consistency::tso;
  spec.cpu.store_buffer_entries = 4;
  spec.cpu.replay_cycles = replay_cycles;
  SmallMachine small(spec);
  double done = 0;
  small.run({[&done](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.store(kLine, 0);
    cpu.exchange(kLine, 1);
    done = cpu.now_ns();
  }});
  return done;
}

TEST(Replay, AnAtomicStartsAnL1LatencyAfterTheStoresBeforeIt) {
  const double at_once = exchange_behind_a_store(0);
  EXPECT_EQ(exchange_behind_a_store(2), at_once + 2);
}

// CPU 1 is CPU 0's sibling, and finds its line requested already.
double sibling_of_a_miss(int replay_cycles) {
  MachineSpec spec = small_machine(2);
  spec.cpu.threads_per_core = 2;
  spec.cpu.replay_cycles = replay_cycles;
  SmallMachine small(spec);
  double done = 0;
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.load(kLine);
             },
             [&done](Cpu& cpu) {
               wait_until(cpu, 2050);
               cpu.load(kLine);
               done = cpu.now_ns();
             }});
  return done;
}

TEST(Replay, ASiblingThatHasWaitedStartsAnL1LatencyAfterTheFill) {
  const double at_once = sibling_of_a_miss(0);
  EXPECT_EQ(sibling_of_a_miss(2), at_once + 2);
}

}  // namespace
}  // namespace linebounce::test
