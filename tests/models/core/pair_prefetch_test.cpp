// Fetches the other line of an aligned pair together with a miss. Lines have 32 bytes here: kLine and kNeighbour are a pair of
// 64.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"
#include "tests/support/expect_reached.hpp"

namespace linebounce::test {
namespace {

constexpr Address kNeighbour = kLine + 32;

MachineSpec pairs(PairPrefetch prefetch, int cpus = 1) {
  MachineSpec spec = small_machine(cpus);
  spec.cpu.pair_prefetch = prefetch;
  return spec;
}

// The load is as fast as without the prefetch, and the other line is only put into L2: 10 cycles.
TEST(PairPrefetching, AMissBringsTheOtherLineOfItsPairIntoTheOutermostCache) {
  SmallMachine small(pairs(PairPrefetch::loads));
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146);
    EXPECT_EQ(cycles_from(cpu, 2500, [&] { cpu.load(kNeighbour); }), 10);
    EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.load(kNeighbour + 32); }), 146) << "the next pair";
  }});
  EXPECT_EQ(small.transactions(), 4);
  EXPECT_EQ(small.machine.pair_prefetches().lines, 2);
}

TEST(PairPrefetching, TheLowerLineIsAskedForAsWellAsTheUpper) {
  SmallMachine small(pairs(PairPrefetch::loads));
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kNeighbour); }), 146);
    EXPECT_EQ(cycles_from(cpu, 2500, [&] { cpu.load(kLine); }), 10);
  }});
}

// The prefetch is stamped one cycle after the load, at 2011, and granted two clocks after it, at 2040. Memory has the line at
// 2150, but the data bus is free only at 2170. The line is at the pins at 2180, and arrives at 2185. A load of it at 2146
// then takes it from L2.
TEST(PairPrefetching, IsATransactionOfTheBusLikeAnyOther) {
  SmallMachine small(pairs(PairPrefetch::loads));
  small.run({[](Cpu& cpu) {
    cycles_from(cpu, 2000, [&] { cpu.load(kLine); });
    EXPECT_EQ(cycles_from(cpu, 2146, [&] { cpu.load(kNeighbour); }), 2185 - 2146 + 10);
  }});
}

TEST(PairPrefetching, IsLeftOutWhereNoMissCanBeAdded) {
  MachineSpec spec = pairs(PairPrefetch::loads);
  spec.cpu.outstanding_misses = 1;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { cpu.load(kLine); }});
  EXPECT_EQ(small.transactions(), 1);
}

// CPU 0's operation holds the only way of the neighbour's set from 2000 to 2030.
TEST(PairPrefetching, IsLeftOutWhereNoLineCanMakeRoom) {
  const ExpectReached mark{"no_way_for_the_pair"};
  MachineSpec spec = pairs(PairPrefetch::all, 2);
  spec.cpu.threads_per_core = 2;
  for (CacheSpec& cache : spec.caches) {
    cache.size_kib = 1;
    cache.ways = 1;
  }
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               cpu.load(kNeighbour);
               cycles_from(cpu, 2000, [&] { cpu.compare_exchange(kNeighbour, 1, 2); });
             },
             [&small](Cpu& cpu) {
               wait_until(cpu, 2005);
               const std::int64_t before = small.machine.pair_prefetches().lines;
               cpu.load(kLine + kSetStride);
               EXPECT_EQ(small.machine.pair_prefetches().lines, before);
             }});
}

TEST(PairPrefetching, OfLoadsLeavesStoresAlone) {
  SmallMachine small(pairs(PairPrefetch::loads));
  small.run({[](Cpu& cpu) { cpu.store(kLine, 1); }});
  EXPECT_EQ(small.transactions(), 1);
}

// The other line is fetched for reading, whatever the miss was. CPU 1's modified copy becomes shared, so its next store has
// to request the right to write, which takes a response without data. At 3000 the store hits L1 without the right. Its
// request is stamped at 3002, granted 3010, address phase 3020, snooped 3060, response 3070; the store ends 5 + 1 cycles
// later.
TEST(PairPrefetching, TakesTheOtherLineFromItsOwnerAsALoadWould) {
  SmallMachine small(pairs(PairPrefetch::all, 2));
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.store(kLine, 1);
             },
             [](Cpu& cpu) {
               cpu.store(kNeighbour, 1);
               EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.store(kNeighbour, 2); }), 76);
             }});
  EXPECT_EQ(small.machine.pair_prefetches().from_caches, 2) << "of CPU 1's line, and CPU 0's when that one writes again";
}

// Two CPUs count a hundred times, each in its own line. CPU 1 starts `later` cycles after CPU 0.
std::int64_t transactions_of_two_counters(PairPrefetch prefetch, Address second, int later) {
  SmallMachine small(pairs(prefetch, 2));
  const auto counts = [](Address counter, int begin) {
    return [counter, begin](Cpu& cpu) {
      for (int i = 0; i < 100; ++i) {
        wait_until(cpu, 2000 + begin + 1000 * i);
        cpu.fetch_add(counter, 1);
      }
    };
  };
  small.run({counts(kLine, 0), counts(second, later)});
  return small.transactions();
}

TEST(TwoCountersInNeighbouringLines, StayWhereTheyAreWithoutIt) {
  EXPECT_EQ(transactions_of_two_counters(PairPrefetch::none, kNeighbour, 500), 2);
}

// Each CPU loses the right to write to the other's prefetch, requests it again, and prefetches the other's line: two
// transactions for each count.
TEST(TwoCountersInNeighbouringLines, BounceWithIt) {
  EXPECT_EQ(transactions_of_two_counters(PairPrefetch::all, kNeighbour, 500), 2 * 200);
}

// Both request the right to write while they have the other's line, so neither prefetches: each keeps its line until something
// else takes one away.
TEST(TwoCountersInNeighbouringLines, SettleOnceBothMissAtOneTime) {
  EXPECT_EQ(transactions_of_two_counters(PairPrefetch::all, kNeighbour, 0), 6);
}

TEST(TwoCountersInNeighbouringLines, OfTwoPairsStayWhereTheyAre) {
  EXPECT_EQ(transactions_of_two_counters(PairPrefetch::all, kNeighbour + 32, 500), 4)
      << "each counter's line and the other of its pair";
}

}  // namespace
}  // namespace linebounce::test
