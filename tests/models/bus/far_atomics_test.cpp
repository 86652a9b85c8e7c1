// Tests atomic operations that memory runs (mesi_far_snoop): the clocks that they take, and what happens to the copies.
// small_machine.hpp has the stages of an access.
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

// Stamped 2010, granted 2020, address phase 2030. Memory has read the line at 2130 and runs the operation. Its result, one
// word, is at the pins at 2140 and arrives at 2145; the operation is done at 2146. It takes no 20 cycles, as atomic
// operations in a cache do, because the CPU never holds the line.
TEST(FarAtomic, TakesAsLongAsALoadAndLeavesNoCopy) {
  SmallMachine small(far_machine(1));
  small.run({[&](Cpu& cpu) {
    EXPECT_EQ(time_of_addition(cpu, 2000, 0), 146);
    EXPECT_EQ(small.in_memory(kLine), 1U);
    EXPECT_EQ(time_of_addition(cpu, 3000, 1), 146);
    EXPECT_EQ(cycles_from(cpu, 4000, [&] { EXPECT_EQ(cpu.load(kLine), 2U); }), 146) << "no copy has stayed";
    cpu.compute(100);  // Lets the whole line arrive before the program, and with it the measured time, ends.
  }});
  EXPECT_EQ(small.transitions("IF_A", "Own_Amo"), 2);
  ASSERT_EQ(small.misses().size(), 3U);
  EXPECT_EQ(small.misses().front().source, Source::local_memory);
  EXPECT_EQ(small.machine.timebase().to_ns(small.machine.bus_statistics().data_busy), 10 + 10 + 40);
}

// Snoop result 2070. The owner's data is on the bus from 2100, three clocks later, to 2140. Then memory runs the operation.
// After a clock of turnaround the word is on the bus at 2150; at the pins 2160; arrives 2165; done 2166.
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

// Both requests are stamped at 2010. CPU 0's is as above: memory works on it until 2130. CPU 1's address phase is at 2050, so
// memory's data for it would be ready at 2150. Its snoop, due at 2090, is stalled until memory is free. From 2150 on it takes
// as long as CPU 0's from 2130, so it ends 20 later.
TEST(FarAtomic, FollowEachOtherAtMemory) {
  SmallMachine small(far_machine(2));
  small.run({[](Cpu& cpu) { EXPECT_EQ(time_of_addition(cpu, 2000, 0), 146); },
             [](Cpu& cpu) { EXPECT_EQ(time_of_addition(cpu, 2000, 1), 166); }});
  EXPECT_EQ(small.in_memory(kLine), 2U);
}

// CPU 0's operation is ordered at 2070. Until then both CPUs can read their copies; from then on neither has one.
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

// CPUs 0 and 2 are on node 0, CPUs 1 and 3 on node 1, the home. The first operation fetches the line to node 0, as a store's
// miss would; then node 0's controller runs the operations. CPU 0's operation at 4000 has its address phase at 4030. The
// controller's cache has the data 30 later, before the snoop result at 4070. The word is at the pins at 4080 and arrives at
// 4085; done 4086.
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

// The last action of the owner's row sends its data to memory. Without that action memory would operate on an old value.
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
