// Prefetches of the other line of an aligned pair. Lines have 32 bytes here, and kLine and kNeighbour form a pair of 64.
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

// The load itself takes as long as without a prefetch. The other line is put only into L2, where a hit takes 10 cycles.
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

// The prefetch is stamped at 2011, one cycle after the load, and granted at 2040, two clocks after it. Memory has the line at
// 2150, but the load's data occupies the bus until 2170. The line is at the pins at 2180 and in L2 at 2185, where the load at
// 2146 hits.
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

// L1 and L2 have one way. From 2000 to 2030 CPU 0's operation holds kNeighbour. CPU 1 misses on another line then, whose
// neighbour would need the same way.
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

// CPU 0's store misses on kLine, and its prefetch reads kNeighbour. So CPU 1's modified copy becomes shared, and its next
// store, at 3000, needs an upgrade: stamped 3002, granted 3010, address phase 3020, snoop result 3060, response 3070; 5 + 1.
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

// Two CPUs count a hundred times, each on its own line. CPU 1 counts `later` cycles after CPU 0 in each round. Returns the
// number of bus transactions.
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

TEST(TwoCountersInNeighbouringLines, StayInTheirCachesWithoutPairPrefetch) {
  EXPECT_EQ(transactions_of_two_counters(PairPrefetch::none, kNeighbour, 500), 2);
}

// The other CPU's prefetch takes the right to write from each CPU. At each of the 200 counts a CPU upgrades its line and
// prefetches the other: two transactions.
TEST(TwoCountersInNeighbouringLines, BounceWithPairPrefetch) {
  EXPECT_EQ(transactions_of_two_counters(PairPrefetch::all, kNeighbour, 500), 2 * 200);
}

// Both CPUs upgrade their lines at the same time. Each has the other's line then, so neither prefetches it. From then on each
// CPU keeps the right to write its line.
TEST(TwoCountersInNeighbouringLines, SettleOnceBothMissAtTheSameTime) {
  EXPECT_EQ(transactions_of_two_counters(PairPrefetch::all, kNeighbour, 0), 6);
}

TEST(TwoCountersInNeighbouringLines, OfTwoPairsStayInTheirCaches) {
  EXPECT_EQ(transactions_of_two_counters(PairPrefetch::all, kNeighbour + 32, 500), 4)
      << "each counter's line and the other of its pair";
}

}  // namespace
}  // namespace linebounce::test
