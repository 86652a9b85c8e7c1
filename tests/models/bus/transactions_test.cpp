// The cost of each kind of bus transaction, clock by clock. small_machine.hpp explains the stages of a miss to memory.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

// The request is stamped at 2010, on an edge, so it is granted at the next edge, 2020.
TEST(SnoopingBus, AMissToMemoryCostsItsStagesAndTheWaitForAnEdge) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146);
    EXPECT_EQ(cycles_from(cpu, 2999, [&] { cpu.load(kLine + 32); }), 137) << "stamped 3009, granted at 3010";
    EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.store(kLine + 64, 1); }), 146);
    EXPECT_EQ(cycles_from(cpu, 5000, [&] { cpu.fetch_add(kLine + 96, 1); }), 145 + 20);
  }});
  ASSERT_EQ(small.misses().size(), 4U);
  EXPECT_EQ(small.misses()[0].source, Source::local_memory);
  // From the access's issue until it can start: 145 ns.
  EXPECT_EQ(small.machine.timebase().to_ns(small.misses()[0].latency), 145);
}

TEST(SnoopingBus, AMemorySlowerBy100NsMakesAMissSlowerBy100Ns) {
  MachineSpec spec = small_machine(1);
  spec.memory.latency_ns = 200;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 246); }});
}

// The owner's first data comes 3 clocks after the snoop result, at 2100; it is at the pins at 2110, and the load is done at
// 2116.
TEST(SnoopingBus, DirtyLineIsSuppliedByItsOwnerNotByMemory) {
  MachineSpec spec = small_machine(2);
  spec.memory.latency_ns = 500;  // irrelevant here
  SmallMachine small(spec);
  Value in_memory_before = 1;
  Value in_memory_after = 0;
  small.run({[&](Cpu& cpu) {
               wait_until(cpu, 1900);
               EXPECT_EQ(cpu.now_ns(), 1900);
               in_memory_before = small.in_memory(kLine);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 116);
               in_memory_after = small.in_memory(kLine);
             },
             [](Cpu& cpu) {
               cpu.store(kLine, 77);
               wait_until(cpu, 3000);
               EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.load(kLine); }), 2) << "the owner keeps a copy";
             }});
  EXPECT_EQ(in_memory_before, 0U);
  EXPECT_EQ(in_memory_after, 77U) << "memory takes the data from the bus";
  EXPECT_EQ(small.misses().back().source, Source::local_c2c);
}

// As fast as under mesi_snoop, but the line comes with the right to write, and its former owner misses.
TEST(SnoopingBus, AMigratoryReadOfADirtyLineTakesItFromItsOwner) {
  SmallMachine small(small_machine(2, "mesi_migratory_snoop"));
  small.run({[&](Cpu& cpu) {
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 116);
               EXPECT_EQ(cycles_from(cpu, 2500, [&] { cpu.fetch_add(kLine, 1); }), 20) << "no upgrade: the line is here alone";
             },
             [](Cpu& cpu) {
               cpu.store(kLine, 77);
               EXPECT_EQ(cycles_from(cpu, 3000, [&] { EXPECT_EQ(cpu.load(kLine), 78U); }), 116);
             }});
  EXPECT_EQ(small.transitions("M", "Other_GetS"), 2);
}

// Since the line moved, nobody has written it. So it is shared, as under mesi_snoop.
TEST(SnoopingBus, ASecondReaderSharesALineThatHasMigrated) {
  SmallMachine small(small_machine(3, "mesi_migratory_snoop"));
  small.run(
      {[](Cpu& cpu) { cpu.store(kLine, 77); },
       [](Cpu& cpu) {
         EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 116);
         EXPECT_EQ(cycles_from(cpu, 4000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 2) << "still here to read";
       },
       [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 3000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 146) << "from memory"; }});
  EXPECT_EQ(small.transitions("E", "Other_GetS"), 1);
}

TEST(SnoopingBus, AWriteTakesADirtyLineAwayAndLeavesMemoryOld) {
  SmallMachine small(small_machine(2));
  small.run({[&](Cpu& cpu) {
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine + 8, 1); }), 116);
               EXPECT_EQ(small.in_memory(kLine), 0U);
             },
             [](Cpu& cpu) {
               cpu.store(kLine, 77);
               EXPECT_EQ(cycles_from(cpu, 3000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 116) << "it has to fetch it back";
             }});
  EXPECT_EQ(small.transitions("M", "Other_GetM"), 1);
}

// L1's look-up finds the line without the right to write: stamped 2002, granted 2010, address phase 2020, snoop result 2060,
// response one clock later, 2070. The store starts 5 cycles later. Memory is not involved.
TEST(SnoopingBus, AnUpgradeCostsAnAddressPhaseButNoDataPhase) {
  MachineSpec spec = small_machine(2);
  spec.memory.latency_ns = 500;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 1); }), 76);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 3000, [&] { EXPECT_EQ(cpu.load(kLine), 1U); }), 116) << "its copy is gone";
             }});
  EXPECT_EQ(small.transitions("SM_AD", "Own_GetM"), 1);
}

// CPU 0's upgrade takes CPU 1's copy away. CPU 1's own upgrade, which is on its way, becomes a miss and fetches CPU 0's data.
// CPU 0's request is stamped at 2002 like CPU 1's, granted first, and snooped at 2060; its store runs from 2075 to 2076. CPU
// 1's is granted at 2030, has its address phase at 2040, and is sampled at 2080, when the line is free. CPU 0's data comes at
// 2110, is at the pins at 2120, and CPU 1's store ends at 2126.
TEST(SnoopingBus, AnUpgradeThatLosesItsCopyFetchesTheData) {
  SmallMachine small(small_machine(2));
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 1); }), 76);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine + 8, 2); }), 126);
               EXPECT_EQ(cpu.load(kLine), 1U);
             }});
  EXPECT_EQ(small.transitions("SM_AD", "Other_GetM"), 1);
}

// Both requests are stamped at 2010. CPU 0's is first: address phase 2030, memory's data 2130 to 2170, store 2145 to 2146.
// CPU 1's snoop is sampled at 2090, 2110 and 2130 (the line is on its way), and at 2150. The line has been free since 2146,
// when CPU 0 had made its one access. CPU 0's data comes 3 clocks later, at 2180, when the data bus is free as well (2170 and
// a clock of turnaround). It is at the pins at 2190, and the store ends at 2196.
TEST(SnoopingBus, TheLowerNumberedOfTwoRacingCpusIsFirstAndFinishesItsAccess) {
  SmallMachine small(small_machine(2));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 1); }), 146); },
             [](Cpu& cpu) {
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 2); }), 196);
               EXPECT_EQ(cpu.load(kLine), 2U);
             }});
}

// CPU 0's operation holds the line from 2050 to 2100. CPU 1's snoop, due at 2070, is sampled at 2070, 2090 and 2110. CPU 1
// takes the line at 2100, before CPU 0's next access, but its snoop result counts from 2110: data at 2140, at the pins 2150,
// store 2155 to 2156. So CPU 0's load at 2100 misses: it is stamped 2110, granted 2120 and snooped 2170; CPU 1's data comes
// at 2200, is at the pins at 2210, and the load ends at 2216.
TEST(SnoopingBus, ASnoopWaitsForALockedOperationAndIsFirstAfterIt) {
  MachineSpec spec = small_machine(2);
  spec.cpu.atomic_latency_cycles = 50;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 10);
               EXPECT_EQ(cycles_from(cpu, 2050, [&] { EXPECT_EQ(cpu.fetch_add(kLine, 1), 10U); }), 50);
               EXPECT_EQ(cycles_from(cpu, 2100, [&] { EXPECT_EQ(cpu.load(kLine), 20U); }), 116);
             },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 20); }), 156); }});
}

// Three requests, for three lines, are stamped at 2010. Their address phases are at 2030, 2050 and 2070. Their data comes one
// after the other: at 2130, 2170 and 2210.
TEST(SnoopingBus, RequestsOfOneTimeAreGrantedByCpuNumber) {
  SmallMachine small(small_machine(3));
  const auto miss = [](double expected) {
    return [expected](Cpu& cpu) {
      EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine + 32 * static_cast<Address>(cpu.id().value)); }), expected);
    };
  };
  small.run({miss(146), miss(186), miss(226)});
}

// CPU 2's stamp is 2007, CPU 1's 2008, CPU 0's 2009: all before the clock edge at 2010. Address phases start at 2020, 2040 and
// 2060; data arrives at 2120, 2160 and 2200; each load returns 16 ns after its data.
TEST(SnoopingBus, RequestsOfDifferentTimesAreGrantedByTheirStamps) {
  SmallMachine small(small_machine(3));
  const auto miss = [](double start, double end) {
    return [start, end](Cpu& cpu) {
      EXPECT_EQ(cycles_from(cpu, start, [&] { cpu.load(kLine + 32 * static_cast<Address>(cpu.id().value)); }), end - start);
    };
  };
  small.run({miss(1999, 2216), miss(1998, 2176), miss(1997, 2136)});
}

// With room for one transaction, the second address phase waits until the first transaction's data has gone. The second
// request is granted on the edge at 2170: address phase 2180, data 2280, and it ends 16 ns later.
TEST(SnoopingBus, AFullInOrderQueueHoldsUpTheNextAddressPhase) {
  MachineSpec spec = small_machine(2);
  spec.bus.outstanding = 1;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146); },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine + 32); }), 296); }});
}

}  // namespace
}  // namespace linebounce::test
