// Stores that have left the program: what the CPU itself sees of them, what others see, and when.
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

// The first store is tried at 2001, after its cycle in the program. It requests its line, stamped 2011, and is done at 2145.
// So there is room for the third at 2145.
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

// The store is in the cache at 2145. A fence's own 8 cycles come after that.
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

// The first store is done at 2145. The second is tried at 2146, stamped 2156, granted at 2160, and done at 2285.
TEST(OwnershipPrefetch, WithoutItStoresMissOneAfterTheOther) {
  EXPECT_EQ(time_of_two_stores(buffered(1)), 285 + 8);
}

// The second store's line is requested when it enters the buffer, at 2001.
TEST(OwnershipPrefetch, StoresThatWaitForEachOtherMissTogether) {
  EXPECT_EQ(time_of_two_stores(prefetching(1)), 185 + 8);
}

TEST(OwnershipPrefetch, IsLeftOutWhereNoMissCanBeAdded) {
  MachineSpec spec = prefetching(1);
  spec.cpu.outstanding_misses = 1;
  EXPECT_EQ(time_of_two_stores(spec), 285 + 8);
}

// A plain store of the ia64 model waits for no other, and requests its line itself.
TEST(OwnershipPrefetch, OfAReleasingStoreUnderIa64) {
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

// The store is in the cache at 2145; the atomic operation's line arrives at 2185.
TEST(OwnershipPrefetch, OfAnAtomicOperationThatWaitsForTheBuffer) {
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

TEST(OwnershipPrefetch, NotOfAnAtomicOperationThatRunsAtMemory) {
  MachineSpec spec = prefetching(1);
  spec.bus.protocol = "mesi_far_snoop";
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
    cpu.store(kLine, 1);
    cpu.fetch_add(kOther, 1);
  }});
  EXPECT_EQ(small.transitions("IF_A", "Own_Amo"), 1);
}

// With one miss at a time, the third store's line is requested when the first store is done and the third enters the buffer,
// before the second's. So it arrives long before it is needed, and CPU 1 takes it back in between.
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

// A load of 8 bytes, of which 4 wait in the buffer, can't be served from the buffer or the cache alone.
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

TEST(StoreBuffer, APartOfAStoreIsForwarded) {
  SmallMachine small(buffered(1));
  small.run({[](Cpu& cpu) {
    cpu.store(kLine, 0x1122334455667788);
    EXPECT_EQ(cycles_from(cpu, 10, [&] { EXPECT_EQ(cpu.load(kLine + 2, 2), 0x5566U); }), 2);
  }});
}

// CPU 0 stores to a line that it misses, then to one that it owns. The first store is done at 2145, the second at 2146,
// whether CPU 0 computes in the meantime or is blocked. CPU 1 loads at `start`: the request is stamped 10 later, granted at
// the next edge, and snooped 50 after that.
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

// Under TSO the second store waits for the first, although its line is present; under the ia64 model it does not, unless it is
// a release.
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

// Each CPU stores to one word and reads the other's while both stores are in the buffers: both read 0, which sequential
// consistency forbids.
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

// CPU 0's four stores wait for the line, which arrives at 2145, and drain at 2145 to 2148. CPU 1 has requested it in the
// meantime, and gets it after the last of them.
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

// Two CPUs store to a word of one line, then to a private line, then to the next word of the first line. Returns how many
// lines they fetch.
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

// The store to the private line comes in between. So CPU 0 loses the first line, and fetches it again. CPU 1 has the line
// last: it stores its next word before CPU 0's request is snooped.
TEST(StoreBuffer, UnderTsoAStoreToAnotherLineEndsTheRun) {
  EXPECT_EQ(lines_fetched(Consistency::tso), 5);
}

TEST(StoreBuffer, UnderAWeakModelAStoreToAnotherLineDoesNot) {
  EXPECT_EQ(lines_fetched(Consistency::ia64), 4);
}

// A load of a word that is in the buffer needs no line.
TEST(StoreBuffer, ACounterThatOthersShareItsLineWithCountsFromTheBuffer) {
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
