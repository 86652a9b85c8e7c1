// Tests atomic operations that memory runs (mesi_far_snoop): the clocks that they take, and what happens to the copies.
// small_machine.hpp has the stages of an access.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/models/support/small_machine.hpp"
#include "tests/support/expect_reached.hpp"

namespace linebounce::test {
namespace {

MachineSpec far_machine(int cpus) {
  return small_machine(cpus, "mesi_far_snoop");
}

double time_of_addition(Cpu& cpu, double ns, Value found) {
  return cycles_from(cpu, ns, [&] { EXPECT_EQ(cpu.fetch_add(kLine, 1), found); });
}

// Stamped 2010, granted 2020, address phase 2030. Memory has read the line at 2130 and runs the operation. Its result, one
// word, is at the pins at 2140 and arrives at 2145; the operation is done at 2146. The 20 cycles of an atomic
// operation in a cache do not occur, because the CPU never holds the line.
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

// CPUs 0 and 2 are on node 0; CPU 1 is on node 1, the home. Every step here follows small_machine.hpp and latencies_test.cpp.
//   2070    CPU 0's first operation asks, and its controller asks the home. 2170: CPU 2's store asks and is deferred.
//   2260    the forward for CPU 1's operation is at node 0, and stalls until CPU 0's has run at 2380; it is done at 2396.
//   2450    the recall for CPU 1 is ordered, and CPU 2's store is stamped again. CPU 0's second operation, stamped 2406, is on
//           the bus already, and asks at 2470. It has to wait, for the store was deferred before.
//   2510    the store asks; 2520 its request leaves; 2600 the home forwards it to node 1, where CPU 1's operation ran at 2590.
//           Recall there: stamped 2610, granted 2620, snoop result 2670. The line leaves at 2690, and is there at 2740: stamped
//           2750, granted 2760, snoop result 2810, pins 2820, done 2826.
//   2810    CPU 0's second operation is stamped again, granted 2820, and finds a dirty line as TakesADirtyLineHomeFirst: 2966.
// If it had not waited, the store would be done at 2876, and later by as much for each further operation of CPU 0.
TEST(FarAtomic, WaitsForAnEarlierStoreThatTheControllerHasDeferred) {
  const ExpectReached mark{"new_request_behind_deferred_ones"};
  SmallMachine small(small_nodes(2, 4, "mesi_node_far"));
  small.machine.homes().place(kLine, Home::on(1));
  small.run({[](Cpu& cpu) {
               EXPECT_EQ(time_of_addition(cpu, 2000, 0), 396);
               EXPECT_EQ(time_of_addition(cpu, 2396, 77), 2966 - 2396);
             },
             [](Cpu& cpu) { EXPECT_EQ(time_of_addition(cpu, 2100, 1), 2606 - 2100); },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2100, [&] { cpu.store(kLine, 77); }), 2826 - 2100); }});
}

// How often CPU `other` was served while `miss` waited, without the access that it had begun before. A request is stamped 2 to
// 10 after its access was issued.
std::ptrdiff_t times_overtaken(const std::vector<Miss>& misses, const Miss& miss, CpuId other) {
  return std::ranges::count_if(misses, [&](const Miss& later) {
    return later.cpu == other && later.issued > miss.issued + 10 && later.issued + later.latency < miss.issued + miss.latency;
  });
}

// Two nodes of four CPUs that all use one line. While the node has the right to write, or to read, a new request may go before
// one that the controller has deferred. It may not when the home has to be asked. So each other CPU of the node goes before a
// request only a few times, however long they go on: at most three times in 12,000 random cases. Without the rule it is 24.
RC_GTEST_PROP(FarAtomicProperty, NobodyOvertakesARequestOfTheNodeMoreThanThreeTimes, ()) {
  constexpr int kNodes = 2, kCpus = 8;
  const auto gaps = *rc::gen::container<std::vector<int>>(kCpus, rc::gen::inRange(0, 120));
  const auto kinds = *rc::gen::container<std::vector<int>>(kCpus, rc::gen::inRange(0, 4));
  SmallMachine small(small_nodes(kNodes, kCpus, "mesi_node_far"));
  std::vector<Core::Program> programs;
  for (int i = 0; i < kCpus; ++i) {
    programs.emplace_back([gap = gaps[i], kind = kinds[i]](Cpu& cpu) {
      for (int n = 0; n < 25; ++n) {
        if (kind == 0) {
          cpu.store(kLine, 1);
        } else if (kind == 1) {
          cpu.load(kLine);
        } else {
          cpu.fetch_add(kLine, 1);
        }
        cpu.compute(gap);
      }
    });
  }
  small.run(std::move(programs));
  for (const Miss& miss : small.misses()) {
    for (int other = miss.cpu.value % kNodes; other < kCpus; other += kNodes)
      RC_ASSERT(times_overtaken(small.misses(), miss, CpuId{other}) <= 3);
  }
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
