// The cost of each kind of bus transaction, clock by clock. small_machine.hpp has the stages of an access.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

// The request at 2000 is stamped at 2010, on an edge, so it is granted at the next edge, 2020. 110 later memory's data comes;
// 10 to the pins; 5 + 1.
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

// In this protocol a cache without a copy answers another's GetS, so the bus must ask it. When CPU 1 reads its line, CPU 0
// holds only the line before. The bus must find CPU 0's cache in I, not in that other line's state S.
TEST(SnoopingBus, ACacheWithoutACopyIsAskedInItsFirstState) {
  std::string text = shipped_text("mesi_snoop");
  const std::string in_many = "| I, IS_AD, IM_AD, II_A ";
  text.replace(text.find(in_many), in_many.size(),
               "| I | Other_GetS | assert shared | = | a reader never gets E |\n| I | Other_GetM | - | = | no copy |\n"
               "| IS_AD, IM_AD, II_A ");
  SmallMachine small(small_machine(2), parse_protocol({{"asks_all.md", text}}));
  small.run({[](Cpu& cpu) { cpu.load(kLine); },
             [](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.load(kLine + 32);
             }});
  EXPECT_EQ(small.transitions("I", "Other_GetS"), 2);
  EXPECT_EQ(small.transitions("S", "Other_GetS"), 0);
}

TEST(SnoopingBus, AMemorySlowerBy100NsMakesAMissSlowerBy100Ns) {
  MachineSpec spec = small_machine(1);
  spec.memory.latency_ns = 200;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 246); }});
}

// Snoop result 2070. The owner's first data comes 3 clocks later, at 2100; at the pins 2110; done 2116.
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

// The read takes 116, as under mesi_snoop. But the reader also gets the right to write, so the former owner keeps no copy.
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

// No CPU has written the line since it moved to CPU 1. So CPU 2's read leaves CPU 1 a copy, as under mesi_snoop.
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

// L1 finds the line without the right to write: stamped 2002, granted 2010, address phase 2020, snoop result 2060. The
// response comes one clock later, 2070; 5 + 1. Memory plays no part.
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

// Both upgrades are stamped at 2002. CPU 0's is granted first, at 2010; its snoop result, 2060, takes CPU 1's copy. Its store
// runs from 2075 to 2076. CPU 1's is granted at 2030, two clocks (an address phase) later. Its upgrade becomes a miss,
// because its copy is gone: snoop result 2080, when the line is free; CPU 0's data 2110; at the pins 2120; done 2126.
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

// Both requests are stamped at 2010.
// CPU 0: granted 2020, address phase 2030, memory's data on the bus from 2130 to 2170, store from 2145 to 2146.
// CPU 1: granted 2040, snoop due 2090. The line is busy when the snoop is sampled at 2090, 2110 and 2130, and free at 2150.
// CPU 0's data comes 3 clocks later, at 2180, when the data bus is free, too (2170 plus a clock of turnaround); at the pins
// 2190; done 2196.
TEST(SnoopingBus, TheLowerNumberedOfTwoRacingCpusIsFirstAndFinishesItsAccess) {
  SmallMachine small(small_machine(2));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 1); }), 146); },
             [](Cpu& cpu) {
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 2); }), 196);
               EXPECT_EQ(cpu.load(kLine), 2U);
             }});
}

// CPU 0's operation holds the line from 2050 to 2100.
// CPU 1's store: snoop due 2070; sampled at 2070 and 2090, when the line is busy, and at 2110. CPU 0 loses the line to it at
// 2100, before CPU 0's next access. CPU 0's data comes 3 clocks after the sample, at 2140; at the pins 2150; the store runs
// from 2155 to 2156.
// CPU 0's load at 2100 misses: stamped 2110, granted 2120, snoop result 2170, CPU 1's data 2200, at the pins 2210, done 2216.
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

// Three requests for three lines are stamped at 2010. An address phase takes 2 clocks, so they start at 2030, 2050 and 2070.
// A line takes 4 clocks on the data bus, so data comes at 2130, 2170 and 2210. Each load ends 16 later.
TEST(SnoopingBus, RequestsOfOneTimeAreGrantedByCpuNumber) {
  SmallMachine small(small_machine(3));
  const auto miss = [](double expected) {
    return [expected](Cpu& cpu) {
      EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine + 32 * static_cast<Address>(cpu.id().value)); }), expected);
    };
  };
  small.run({miss(146), miss(186), miss(226)});
}

// Stamps: CPU 2 2007, CPU 1 2008, CPU 0 2009. CPU 2's request is granted at the edge at 2010, the others 2 clocks apart.
// Address phases: 2020, 2040 and 2060; data: 2120, 2160 and 2200. Each load ends 16 after its data.
TEST(SnoopingBus, RequestsOfDifferentTimesAreGrantedByTheirStamps) {
  SmallMachine small(small_machine(3));
  const auto miss = [](double start, double end) {
    return [start, end](Cpu& cpu) {
      EXPECT_EQ(cycles_from(cpu, start, [&] { cpu.load(kLine + 32 * static_cast<Address>(cpu.id().value)); }), end - start);
    };
  };
  small.run({miss(1999, 2216), miss(1998, 2176), miss(1997, 2136)});
}

// With one outstanding transaction, the second request is granted only when the first one's data has left the bus, at 2170:
// address phase 2180, data 2280. The load ends 16 later, at 2296.
TEST(SnoopingBus, AFullInOrderQueueHoldsUpTheNextAddressPhase) {
  MachineSpec spec = small_machine(2);
  spec.bus.outstanding = 1;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146); },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine + 32); }), 296); }});
}

}  // namespace
}  // namespace linebounce::test
