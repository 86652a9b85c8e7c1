// The store buffer: what a CPU sees of its own buffered stores, and when other CPUs see them.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"
#include "tests/support/expect_reached.hpp"

namespace linebounce::test {
namespace {

constexpr Address kOther = kLine + 32;
constexpr Address kThird = kLine + 64;

MachineSpec buffered(int cpus, Consistency consistency = Consistency::tso) {
  MachineSpec spec = small_machine(cpus);
  spec.cpu.consistency = consistency;
  spec.cpu.store_buffer_entries = 2;
  return spec;
}

TEST(StoreBuffer, AStoreThatMissesCostsTheProgramACycle) {
  SmallMachine small(buffered(1));
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 7); }), 1);
    EXPECT_EQ(cpu.load(kLine), 7U) << "from the buffer";
    EXPECT_EQ(cpu.now_ns(), 2003);
  }});
}

TEST(StoreBuffer, WithoutOneTheStoreTakesAsLongAsItsMiss) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 7); }), 146); }});
}

// The first store enters the buffer at 2001 and requests its line: stamped 2011, granted 2020, in the cache at 2145. Then the
// third store enters the buffer, which has two entries, in one cycle.
TEST(StoreBuffer, AFullBufferHoldsTheProgramUp) {
  SmallMachine small(buffered(1));
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 2000,
                          [&] {
                            cpu.store(kLine, 1);
                            cpu.store(kOther, 2);
                            cpu.store(kThird, 3);
                          }),
              145 + 1);
  }});
}

// The store is in the cache at 2145. Then the fence takes its 8 cycles.
TEST(StoreBuffer, AFenceWaitsUntilItIsEmpty) {
  SmallMachine small(buffered(1));
  small.run({[](Cpu& cpu) {
    cpu.load(kOther);
    EXPECT_EQ(cycles_from(cpu, 2000,
                          [&] {
                            cpu.store(kLine, 1);
                            cpu.fence();
                          }),
              145 + 8);
  }});
}

TEST(StoreBuffer, AnAtomicOperationWaitsUntilItIsEmpty) {
  SmallMachine small(buffered(1));
  small.run({[](Cpu& cpu) {
    cpu.store(kOther, 1);
    EXPECT_EQ(cycles_from(cpu, 2000,
                          [&] {
                            cpu.store(kLine, 1);
                            cpu.fetch_add(kOther, 1);
                          }),
              145 + 20);
  }});
}

MachineSpec prefetching(int cpus, Consistency consistency = Consistency::tso) {
  MachineSpec spec = buffered(cpus, consistency);
  spec.cpu.ownership_prefetch = true;
  return spec;
}

// Two stores miss, and a fence waits for both.
double time_of_two_stores(const MachineSpec& spec) {
  double cycles = 0;
  SmallMachine small(spec);
  small.run({[&](Cpu& cpu) {
    cycles = cycles_from(cpu, 2000, [&] {
      cpu.store(kLine, 1);
      cpu.store(kOther, 2);
      cpu.fence();
    });
    EXPECT_EQ(cpu.load(kOther), 2U);
  }});
  EXPECT_EQ(small.transactions(), 2);
  return cycles;
}

// The first store is in the cache at 2145. The second is tried at 2146: stamped 2156, granted 2160, in the cache 125 later,
// at 2285. The fence takes 8.
TEST(OwnershipPrefetch, WithoutItStoresMissOneAfterTheOther) {
  EXPECT_EQ(time_of_two_stores(buffered(1)), 285 + 8);
}

// The second store's line is requested when the store enters the buffer, so its data follows the first line's on the bus, 4
// clocks later: it is in the cache at 2185 instead of 2285. The fence takes 8.
TEST(OwnershipPrefetch, StoresThatWaitForEachOtherMissTogether) {
  EXPECT_EQ(time_of_two_stores(prefetching(1)), 185 + 8);
}

TEST(OwnershipPrefetch, IsLeftOutWhereNoMissCanBeAdded) {
  MachineSpec spec = prefetching(1);
  spec.cpu.outstanding_misses = 1;
  EXPECT_EQ(time_of_two_stores(spec), 285 + 8);
}

// Under the ia64 model plain stores miss together anyway; only the release store waits for the first. Its line is prefetched,
// so it is in the cache at 2185.
TEST(OwnershipPrefetch, BringsTheLineOfAReleasingStoreUnderIa64) {
  SmallMachine small(prefetching(1, Consistency::ia64));
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 2000,
                          [&] {
                            cpu.store(kLine, 1);
                            cpu.store_release(kOther, 2);
                            cpu.fence();
                          }),
              185 + 8);
  }});
}

// The atomic operation waits for the store, which is in the cache at 2145. Its line is prefetched and arrives at 2185; then
// it takes 20.
TEST(OwnershipPrefetch, BringsTheLineOfAnAtomicOperationThatWaitsForTheBuffer) {
  SmallMachine small(prefetching(1));
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 2000,
                          [&] {
                            cpu.store(kLine, 1);
                            cpu.fetch_add(kOther, 1);
                          }),
              185 + 20);
  }});
  EXPECT_EQ(small.transactions(), 2);
}

TEST(OwnershipPrefetch, BringsNoLineOfAnAtomicOperationThatRunsAtMemory) {
  MachineSpec spec = prefetching(1);
  spec.bus.protocol = "mesi_far_snoop";
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
    cpu.store(kLine, 1);
    cpu.fetch_add(kOther, 1);
  }});
  EXPECT_EQ(small.transitions("IF_A", "Own_Amo"), 1);
}

// Only one miss may be outstanding. When the first store is done, the third enters the buffer and its prefetch comes before
// the second store's miss. So the third's line arrives early, and CPU 1 takes it away before the third store can use it.
TEST(OwnershipPrefetch, ALineThatIsTakenAwayBeforeTheStoreIsAskedForAgain) {
  MachineSpec spec = prefetching(2);
  spec.cpu.outstanding_misses = 1;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.store(kLine, 1);
               cpu.store(kOther, 2);
               cpu.store(kThird, 3);
               cpu.fence();
               EXPECT_EQ(cpu.load(kThird), 3U);
             },
             [](Cpu& cpu) {
               cpu.store(kThird, 5);
               wait_until(cpu, 2290);
               EXPECT_EQ(cpu.fetch_add(kThird, 4), 5U);
             }});
  EXPECT_EQ(small.transitions("M", "Other_GetM"), 3) << "to CPU 0, back, and to CPU 0 for good";
}

TEST(StoreBuffer, ALoadOfAnotherLineDoesNotWait) {
  SmallMachine small(buffered(1));
  small.run({[](Cpu& cpu) {
    cpu.load(kOther);
    EXPECT_EQ(cycles_from(cpu, 2000,
                          [&] {
                            cpu.store(kLine, 1);
                            cpu.load(kOther);
                          }),
              1 + 2);
  }});
}

// The load needs 8 bytes, of which the buffer has 4 and the cache the others. It waits until the store is in the cache, at
// 2145, and takes 2.
TEST(StoreBuffer, ALoadThatOverlapsAStoreInPartWaitsForIt) {
  const ExpectReached mark{"load_wider_than_buffered_store"};
  SmallMachine small(buffered(1));
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 2000,
                          [&] {
                            cpu.store(kLine, 0xAABBCCDD, 4);
                            EXPECT_EQ(cpu.load(kLine), 0xAABBCCDDU);
                          }),
              145 + 2);
  }});
}

// A trace contains no values. While an addition waits in the buffer, the thread's own loads must see a changed word if and only
// if something was added.
TEST(StoreBuffer, AnAddedValueIsForwardedAsAChangeOfTheWord) {
  SmallMachine small(buffered(1));
  small.run({[](Cpu& cpu) {
    cpu.write_adding(OperationKind::store, kLine, 0, 8);
    EXPECT_EQ(cpu.load(kLine), 0U);
    cpu.write_adding(OperationKind::store, kOther, 1, 8);
    EXPECT_EQ(cpu.load(kOther), Value{1} << 63);
    cpu.fence();
    EXPECT_EQ(cpu.load(kLine), 0U);
    EXPECT_EQ(cpu.load(kOther), 1U) << "in the cache the word has its sum";
  }});
}

TEST(StoreBuffer, APartOfAStoreIsForwarded) {
  SmallMachine small(buffered(1));
  small.run({[](Cpu& cpu) {
    cpu.store(kLine, 0x1122334455667788);
    EXPECT_EQ(cycles_from(cpu, 10, [&] { EXPECT_EQ(cpu.load(kLine + 2, 2), 0x5566U); }), 2);
  }});
}

// CPU 0 stores to a line that it lacks, then to a line that it has. The first store reaches the cache at 2145, the second at
// 2146, whether CPU 0 computes meanwhile or is blocked. Returns the value of the second word that CPU 1's load at `start`
// reads. The load is stamped 10 later, granted at the next edge, and snooped 50 after that.
template <class While>
Value seen_by_a_snoop(double start, While during) {
  SmallMachine small(buffered(2));
  Value seen = 99;
  small.run({[&during](Cpu& cpu) {
               cpu.store(kOther, 0);
               cpu.fence();
               wait_until(cpu, 2000);
               cpu.store(kLine, 1);
               cpu.store(kOther, 7);
               during(cpu);
             },
             [start, &seen](Cpu& cpu) { EXPECT_GT(cycles_from(cpu, start, [&] { seen = cpu.load(kOther); }), 0); }});
  return seen;
}

// CPU 1's load is granted at 2100 and snooped at 2150.
TEST(StoreBuffer, ASnoopFindsAStoreThatDrainedBeforeIt) {
  EXPECT_EQ(seen_by_a_snoop(2085, [](Cpu& cpu) { cpu.compute(1000); }), 7U);
}
// CPU 1's load is granted at 2090 and snooped at 2140.
TEST(StoreBuffer, ASnoopTakesTheLineBeforeAStoreThatDrainsAfterIt) {
  EXPECT_EQ(seen_by_a_snoop(2075, [](Cpu& cpu) { cpu.compute(1000); }), 0U);
}
TEST(StoreBuffer, ASnoopFindsTheDrainedStoreOfABlockedThread) {
  EXPECT_EQ(seen_by_a_snoop(2085, [](Cpu& cpu) { cpu.load(kThird); }), 7U);
}

// CPU 0 stores at `at` to a line that it owns but has only in L2, so the store enters the buffer and drains a cycle later.
// Returns what CPU 1's load, snooped at 2140, reads.
Value seen_of_a_store_to_l2(double at) {
  SmallMachine small(buffered(2));
  Value seen = 99;
  small.run({[at](Cpu& cpu) {
               cpu.store(kOther, 0);
               cpu.fence();
               for (const Address way : {1, 2}) cpu.load(kOther + way * kSetStride);
               wait_until(cpu, at);
               cpu.store(kOther, 7);
             },
             [&seen](Cpu& cpu) { EXPECT_GT(cycles_from(cpu, 2075, [&] { seen = cpu.load(kOther); }), 0); }});
  return seen;
}

TEST(StoreBuffer, AStoreToAFartherLevelDrainsACycleAfterItIsIssued) {
  EXPECT_EQ(seen_of_a_store_to_l2(2138), 7U);
  EXPECT_EQ(seen_of_a_store_to_l2(2139), 0U) << "it drains at 2140, after the snoop of that time";
}

// Returns whether CPU 1's load, snooped at 2070, sees CPU 0's second store (7) or not (0). CPU 0 has the line of the second
// store but must fetch that of the first. Under TSO the second store waits for the first. Under the ia64 model it waits only
// if it is a release.
double second_store_seen_at(Consistency consistency, bool release) {
  SmallMachine small(buffered(2, consistency));
  double at = 0;
  small.run({[release](Cpu& cpu) {
               cpu.store(kOther, 0);
               cpu.fence();
               wait_until(cpu, 2000);
               cpu.store(kLine, 1);
               if (release) {
                 cpu.store_release(kOther, 7);
               } else {
                 cpu.store(kOther, 7);
               }
             },
             [&at](Cpu& cpu) {
               wait_until(cpu, 2005);  // snooped at 2070
               const Value value = cpu.load(kOther);
               at = static_cast<double>(value);
             }});
  return at;
}

TEST(StoreBuffer, UnderTsoStoresAreSeenInOrder) {
  EXPECT_EQ(second_store_seen_at(Consistency::tso, false), 0);
}
TEST(StoreBuffer, UnderIa64AStoreMayPassAnother) {
  EXPECT_EQ(second_store_seen_at(Consistency::ia64, false), 7);
}
TEST(StoreBuffer, UnderIa64AReleasingStorePassesNone) {
  EXPECT_EQ(second_store_seen_at(Consistency::ia64, true), 0);
}

// Store buffering, the litmus test: each CPU stores to one word and then loads the other CPU's. Both loads read 0 if both
// stores are still in the buffers; sequential consistency forbids that.
std::pair<Value, Value> store_then_load(const MachineSpec& spec) {
  SmallMachine small(spec);
  std::pair<Value, Value> read{9, 9};
  const auto program = [](Address mine, Address theirs, Value& result) {
    return [mine, theirs, &result](Cpu& cpu) {
      cpu.load(theirs);
      wait_until(cpu, 2000);
      cpu.store(mine, 1);
      result = cpu.load(theirs);
    };
  };
  small.run({program(kLine, kOther, read.first), program(kOther, kLine, read.second)});
  return read;
}

TEST(StoreBuffer, UnderTsoALoadMayPassAnEarlierStore) {
  EXPECT_EQ(store_then_load(buffered(2)), (std::pair<Value, Value>{0, 0}));
}
TEST(StoreBuffer, UnderSequentialConsistencyNoLoadPassesAStore) {
  const std::pair<Value, Value> read = store_then_load(small_machine(2));
  EXPECT_TRUE(read.first == 1 || read.second == 1);
}

// The line arrives at CPU 0 at 2145, and CPU 0's four stores drain from then to 2148. CPU 1 requested the line before, and
// gets it after the fourth store.
TEST(StoreBuffer, StoresToALineThatHasArrivedDrainBeforeAnotherCpuTakesIt) {
  MachineSpec spec = buffered(2);
  spec.cpu.store_buffer_entries = 8;
  SmallMachine small(spec);
  const auto stores = [](Cpu& cpu) {
    wait_until(cpu, 2000);
    for (Address word = 0; word < 4; ++word) cpu.store(kLine + 8 * word, cpu.id().value + 1);
    cpu.fence();
  };
  small.run({stores, stores});
  EXPECT_EQ(small.misses().size(), 2U) << "one transfer serves all stores of a CPU";
}

// Two CPUs prefetch the same line with this access at 2000, and at once store to it 32 times. Returns the number of transfers.
std::int64_t transfers_of_prefetched_line(Access access) {
  MachineSpec spec = buffered(2);
  spec.cpu.store_buffer_entries = 64;
  SmallMachine small(spec);
  const auto stores = [access](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.prefetch(kLine, access);
    for (int i = 0; i < 32; ++i) cpu.store(kLine + 8 * static_cast<Address>(i % 4), 1);
    cpu.fence();
  };
  small.run({stores, stores});
  return small.transactions();
}

// A prefetch to write brings the line for the stores that wait for it: all 32 drain before the other CPU, which has requested
// the line meanwhile, takes it.
TEST(StoreBuffer, StoresToALineThatWasPrefetchedToWriteDrainBeforeAnotherCpuTakesIt) {
  EXPECT_EQ(transfers_of_prefetched_line(kWriteAccess), 2);
}

// Two CPUs each store to their private line between two stores to a line that both share. Returns how many lines are fetched.
std::int64_t lines_fetched(Consistency consistency) {
  MachineSpec spec = buffered(2, consistency);
  spec.cpu.store_buffer_entries = 8;
  SmallMachine small(spec);
  const auto stores = [](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.store(kLine, 1);
    cpu.store(cpu.id().value == 0 ? kOther : kThird, 1);
    cpu.store(kLine + 8, 1);
    cpu.fence();
  };
  small.run({stores, stores});
  return small.transactions();
}

// Five fetches: two private lines, and the shared line by CPU 0, CPU 1, and CPU 0 again. CPU 0 loses it while its store to
// the private line is under way. CPU 1's last store still finds the line there.
TEST(StoreBuffer, UnderTsoAStoreToAnotherLineEndsARunOfStoresToTheSameLine) {
  EXPECT_EQ(lines_fetched(Consistency::tso), 5);
}

TEST(StoreBuffer, UnderIa64AStoreToAnotherLineEndsNoRunOfStoresToTheSameLine) {
  EXPECT_EQ(lines_fetched(Consistency::ia64), 4);
}

// The loads take their values from the store buffer, so they need no line, even if the other CPU has taken it.
TEST(StoreBuffer, ACounterWhoseLineOthersTakeCountsFromTheBuffer) {
  MachineSpec spec = buffered(2);
  spec.cpu.store_buffer_entries = 64;
  SmallMachine small(spec);
  const auto count = [](Cpu& cpu) {
    const Address own = kLine + 8 * static_cast<Address>(cpu.id().value);
    for (int i = 0; i < 32; ++i) cpu.store(own, cpu.load(own) + 1);
    cpu.fence();
    EXPECT_EQ(cpu.load(own), 32U);
  };
  small.run({count, count});
  EXPECT_LE(small.misses().size(), 8U);
}

}  // namespace
}  // namespace linebounce::test
