// Tests an atomic operation that memory runs (mesi_far_snoop): its cost, clock by clock, and its effect on the copies.
// small_machine.hpp explains what the times consist of.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

MachineSpec far_machine(int cpus) {
  return small_machine(cpus, "mesi_far_snoop");
}

double time_of_addition(Cpu& cpu, double ns, Value found) {
  return cycles_from(cpu, ns, [&] { EXPECT_EQ(cpu.fetch_add(kLine, 1), found); });
}

// The request is stamped at 2010, granted at 2020, and has its address phase at 2030. Memory has the line at 2130 and runs
// the operation. One word is at the pins at 2140, arrives at 2145, and the operation is done at 2146. That is as fast as a
// load, because the CPU does not hold the word afterwards.
TEST(FarAtomic, TakesAsLongAsALoadAndLeavesNoCopy) {
  SmallMachine small(far_machine(1));
  small.run({[&](Cpu& cpu) {
    EXPECT_EQ(time_of_addition(cpu, 2000, 0), 146);
    EXPECT_EQ(small.in_memory(kLine), 1U);
    EXPECT_EQ(time_of_addition(cpu, 3000, 1), 146);
    EXPECT_EQ(cycles_from(cpu, 4000, [&] { EXPECT_EQ(cpu.load(kLine), 2U); }), 146) << "no copy has stayed";
    cpu.compute(100);  // until the whole line has arrived, because the measured time ends with the program
  }});
  EXPECT_EQ(small.transitions("IF_A", "Own_Amo"), 2);
  ASSERT_EQ(small.misses().size(), 3U);
  EXPECT_EQ(small.misses().front().source, Source::local_memory);
  EXPECT_EQ(small.machine.timebase().to_ns(small.machine.bus_statistics().data_busy), 10 + 10 + 40);
}

// The owner's data is on the bus from 2100 to 2140, three clocks after the snoop result; then memory runs the operation.
// After a clock of turnaround the word is on the bus at 2150, at the pins at 2160, and arrives at 2165.
TEST(FarAtomic, TakesADirtyLineHomeFirst) {
  SmallMachine small(far_machine(2));
  small.run({[&](Cpu& cpu) {
               EXPECT_EQ(time_of_addition(cpu, 2000, 77), 166);
               EXPECT_EQ(small.in_memory(kLine), 78U);
             },
             [](Cpu& cpu) {
               cpu.store(kLine, 77);
               EXPECT_EQ(cycles_from(cpu, 3000, [&] { EXPECT_EQ(cpu.load(kLine), 78U); }), 146) << "the copy has gone";
             }});
  EXPECT_EQ(small.transitions("M", "Other_Amo"), 1);
  EXPECT_EQ(small.misses()[1].source, Source::local_c2c);
}

// A cache with the right to write runs the operation itself, in the 20 cycles of an atomic operation.
TEST(FarAtomic, RunsInTheCacheThatMayWrite) {
  SmallMachine small(far_machine(1));
  small.run({[&](Cpu& cpu) {
    cpu.load(kLine);
    EXPECT_EQ(time_of_addition(cpu, 2000, 0), 20) << "from E";
    EXPECT_EQ(time_of_addition(cpu, 3000, 1), 20) << "from M";
    EXPECT_EQ(small.in_memory(kLine), 0U);
  }});
  EXPECT_EQ(small.transactions(), 1);
}

// CPU 1's address phase is at 2050. Its snoop would be sampled at 2090, but memory works for CPU 0 until 2130. By then memory
// has read the line again for CPU 1 (2150), so each further operation costs only 20.
TEST(FarAtomic, FollowEachOtherAtMemory) {
  SmallMachine small(far_machine(2));
  small.run({[](Cpu& cpu) { EXPECT_EQ(time_of_addition(cpu, 2000, 0), 146); },
             [](Cpu& cpu) { EXPECT_EQ(time_of_addition(cpu, 2000, 1), 166); }});
  EXPECT_EQ(small.in_memory(kLine), 2U);
}

// Ordered at 2070: CPU 1 loses its copy, and CPU 0 its own, which it could read until then.
TEST(FarAtomic, EndsEveryCopyInItsOrderStep) {
  SmallMachine small(far_machine(2));
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(time_of_addition(cpu, 2008, 0), 2146 - 2008) << "found in L1 without the right: stamped 2010";
               EXPECT_EQ(cycles_from(cpu, 3000, [&] { EXPECT_EQ(cpu.load(kLine), 1U); }), 146);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 2067, [&] { EXPECT_EQ(cpu.load(kLine), 0U); }), 2);
               EXPECT_GT(cycles_from(cpu, 2070, [&] { EXPECT_EQ(cpu.load(kLine), 1U); }), 100);
             }});
  EXPECT_EQ(small.transitions("SF_A", "Own_Amo"), 1);
  EXPECT_EQ(small.transitions("S", "Other_Amo"), 1);
}

// Four lines fill their set in both caches; a far atomic on a fifth evicts none of them.
TEST(FarAtomic, EvictsNoLine) {
  SmallMachine small(far_machine(1));
  small.run({[](Cpu& cpu) {
    for (Address i = 1; i <= 4; ++i) cpu.load(kLine + i * kSetStride);
    cpu.fetch_add(kLine, 1);
    wait_until(cpu, 4000);
    for (Address i = 1; i <= 4; ++i) cpu.load(kLine + i * kSetStride);
  }});
  EXPECT_EQ(small.transactions(), 5);
}

// CPUs 0 and 2 are on node 0. The first operation fetches the line to the node, as a store's miss would. From then on the
// node's controller runs the operations. One has its address phase at 4030; the controller has the data 30 later, before the
// snoop result at 4070. The word is at the pins at 4080, and arrives at 4085.
TEST(FarAtomic, RunsInTheControllerOfTheNodeThatHasTheLine) {
  SmallMachine small(small_nodes(2, 4, "mesi_node_far"));
  small.machine.homes().place(kLine, Home::on(1));
  small.run({[](Cpu& cpu) {
               EXPECT_EQ(cpu.fetch_add(kLine, 1), 0U);
               EXPECT_EQ(time_of_addition(cpu, 4000, 1), 86);
             },
             [](Cpu& cpu) { EXPECT_GT(time_of_addition(cpu, 6000, 3), 300) << "the line moves to the other node"; },
             [](Cpu& cpu) { EXPECT_EQ(time_of_addition(cpu, 5000, 2), 86) << "another CPU of the first"; },
             [](Cpu& cpu) { EXPECT_EQ(time_of_addition(cpu, 7000, 4), 86) << "another CPU of the second"; }});
}

// A far atomic fetches no line, so it fetches no neighbour either.
TEST(FarAtomic, FetchesNoPair) {
  MachineSpec spec = far_machine(1);
  spec.cpu.pair_prefetch = PairPrefetch::all;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { cpu.fetch_add(kLine, 1); }});
  EXPECT_EQ(small.transactions(), 1);
}

// The owner's row sends memory the data as its last action. Without it, memory would operate on the old value.
TEST(FarAtomic, NeverRunsOnAnOldValue) {
  Protocol protocol = shipped_protocol("mesi_far_snoop");
  ControllerTable& table = protocol.cache;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const bool owners = table.states[i / table.events.size()].name == "M";
    if (owners && table.events[i % table.events.size()] == "Other_Amo") table.rows[i].actions[1] = table.rows[i].actions[0];
  }
  SmallMachine small(far_machine(2), protocol);
  EXPECT_THROW(small.run({[](Cpu& cpu) {
                            wait_until(cpu, 2000);
                            cpu.fetch_add(kLine, 1);
                          },
                          [](Cpu& cpu) { cpu.store(kLine, 77); }}),
               ModelFailure);
}

}  // namespace
}  // namespace linebounce::test
