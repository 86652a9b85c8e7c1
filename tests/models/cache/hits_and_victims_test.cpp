// Tests which lines stay in a core's caches, how long hits take, and evictions.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

// Loads two other lines of the same sets. The first line then leaves L1, which has 2 ways, but stays in L2, which has 4.
void push_out_of_l1(Cpu& cpu) {
  cpu.load(kLine + kSetStride);
  cpu.load(kLine + 2 * kSetStride);
}

TEST(CacheHit, ALoadInL1TakesItsLatency) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    cpu.load(kLine);
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 2);
    EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.load(kLine + 24); }), 2) << "another word of the line";
  }});
  EXPECT_EQ(small.transactions(), 1);
}

TEST(CacheHit, AStoreInL1TakesACycle) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    cpu.load(kLine);
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 1); }), 1) << "from Exclusive, without the bus";
    EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.store(kLine, 2); }), 1);
  }});
  EXPECT_EQ(small.transactions(), 1);
}

TEST(CacheHit, AnAtomicOperationInL1TakesItsOwnLatency) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    cpu.load(kLine);
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.fetch_add(kLine, 5), 0U); }), 20);
    EXPECT_EQ(cycles_from(cpu, 3000, [&] { EXPECT_EQ(cpu.exchange(kLine, 6), 5U); }), 20);
    EXPECT_EQ(cycles_from(cpu, 4000, [&] { EXPECT_EQ(cpu.compare_exchange(kLine, 6, 7), 6U); }), 30);
    EXPECT_EQ(cycles_from(cpu, 5000, [&] { EXPECT_EQ(cpu.compare_exchange(kLine, 6, 8), 7U); }), 30) << "it fails as slowly";
    EXPECT_EQ(cpu.load(kLine), 7U);
  }});
}

TEST(CacheHit, ALoadInL2TakesItsLatencyAndBringsTheLineNear) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    cpu.load(kLine);
    push_out_of_l1(cpu);
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 10);
    EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.load(kLine); }), 2);
  }});
  EXPECT_EQ(small.transactions(), 3);
}

// The simulator remembers the latest copy by the low bits of a line's number (CacheAgent::latest_copy).
TEST(CacheHit, LinesWhoseNumbersAgreeInTheirLowBitsAreHitByTurns) {
  constexpr Address kOther = kLine + (Address{1} << 20);
  SmallMachine small(small_machine(2));
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 1);
               cpu.store(kOther, 2);
               for (const double at : {2000.0, 3000.0}) {
                 EXPECT_EQ(cycles_from(cpu, at, [&] { EXPECT_EQ(cpu.load(kLine), 1U); }), 2);
                 EXPECT_EQ(cycles_from(cpu, at + 500, [&] { EXPECT_EQ(cpu.load(kOther), 2U); }), 2);
               }
               EXPECT_EQ(cycles_from(cpu, 6000, [&] { EXPECT_EQ(cpu.load(kOther), 2U); }), 2) << "the other CPU took kLine";
             },
             [](Cpu& cpu) { cycles_from(cpu, 5000, [&] { cpu.store(kLine, 3); }); }});
  EXPECT_EQ(small.transactions(), 3);
}

// The cost is L2's look-up, then the operation's own time.
TEST(CacheHit, StoresAndAtomicOperationsInL2AddTheirLookUp) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    cpu.load(kLine);
    push_out_of_l1(cpu);
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 1); }), 10 + 1);
    push_out_of_l1(cpu);
    EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.fetch_add(kLine, 1); }), 10 + 20);
  }});
}

TEST(CacheHit, EightBytesAndPartsOfThemAreTheSameMemory) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    cpu.store(kLine, 0x1122334455667788);
    EXPECT_EQ(cpu.load(kLine, 1), 0x88U);
    EXPECT_EQ(cpu.load(kLine + 6, 2), 0x1122U);
    cpu.store(kLine + 4, 0xAABBCCDDEE, 4);
    EXPECT_EQ(cpu.load(kLine), 0xBBCCDDEE55667788U);
    cpu.fetch_add(kLine, 0x80, 1);  // overflows its byte
    EXPECT_EQ(cpu.load(kLine), 0xBBCCDDEE55667708U);
  }});
}

// L2 does not see L1's hits, so a line that is used only in L1 is the least recently used one in L2. If L2 is inclusive and
// evicts the line, L1 loses it, too.
void use_l1_while_l2_fills_up(Cpu& cpu) {
  for (Address other = 1; other <= 4; ++other) {
    cpu.load(kLine);
    cpu.load(kLine + other * kSetStride);
  }
}

TEST(BackInvalidation, AnInclusiveL2TakesTheLineFromL1) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    use_l1_while_l2_fills_up(cpu);
    EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.load(kLine); }), 146) << "a miss to memory";
  }});
  EXPECT_EQ(small.transactions(), 6);
}

TEST(BackInvalidation, AnL2ThatIsNotInclusiveLeavesTheLineInL1) {
  MachineSpec spec = small_machine(1);
  spec.caches[1].inclusive = false;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
    use_l1_while_l2_fills_up(cpu);
    EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.load(kLine); }), 2);
  }});
  EXPECT_EQ(small.transactions(), 5);
}

// The victim's PutM is stamped at 4000 and granted at 4010; its address phase is at 4020 and takes 2 clocks. The miss is
// stamped at 4010 and would have its address phase at 4030; now it has it at 4040, 10 later.
TEST(WriteBack, ADirtyVictimGoesToMemoryBeforeTheMissThatPushedItOut) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    cpu.store(kLine, 77);
    for (Address other = 1; other <= 3; ++other) cpu.load(kLine + other * kSetStride);
    EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.load(kLine + 4 * kSetStride); }), 146 + 10);
  }});
  EXPECT_EQ(small.transactions(), 6);
  EXPECT_EQ(small.in_memory(kLine), 77U);
  EXPECT_EQ(small.transitions("MI_A", "Own_PutM"), 1);
}

TEST(WriteBack, ACleanVictimLeavesSilently) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    for (Address other = 0; other <= 3; ++other) cpu.load(kLine + other * kSetStride);
    EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.load(kLine + 4 * kSetStride); }), 146);
  }});
  EXPECT_EQ(small.transactions(), 5);
  EXPECT_EQ(small.transitions("E", "Evict"), 1);
}

// CPU 1's load at 3989 is stamped at 3999, granted at 4000, and snooped at 4050. The victim's PutM is stamped at 4000 and
// ordered only after that, so CPU 0's write-back buffer has the line and answers: first data 4080, at the pins 4090, done
// 4096.
TEST(WriteBack, TheBufferIsSnoopedWhileItWaits) {
  SmallMachine small(small_machine(2));
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 77);
               for (Address other = 1; other <= 3; ++other) cpu.load(kLine + other * kSetStride);
               wait_until(cpu, 4000);
               cpu.load(kLine + 4 * kSetStride);
             },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 3989, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 107); }});
  EXPECT_EQ(small.transitions("MI_A", "Other_GetS"), 1);
  EXPECT_EQ(small.transitions("II_A", "Own_PutM"), 1) << "the write-back, overtaken, means nothing";
  EXPECT_EQ(small.in_memory(kLine), 77U) << "the transfer put it into memory";
}

double two_victims(int buffers) {
  MachineSpec spec = small_machine(1);
  spec.cpu.write_back_buffers = buffers;
  SmallMachine small(spec);
  double taken = 0;
  small.run({[&taken](Cpu& cpu) {
    for (Address other = 0; other <= 3; ++other) cpu.store(kLine + other * kSetStride, 1);
    wait_until(cpu, 4000);
    cpu.prefetch(kLine + 4 * kSetStride);
    taken = cycles_from(cpu, 4001, [&] { cpu.load(kLine + 5 * kSetStride); });
  }});
  return taken;
}

// Address phases, 2 clocks apart: the prefetch's PutM (stamped 4000) at 4020, the load's PutM (4001) at 4040, the prefetch
// (4010) at 4060, the load (4011) at 4080. Memory has the load's data at 4180, but the prefetch's occupies the data bus from
// 4160 to 4200. So the load's data is at the pins at 4210; done 4216.
TEST(WriteBack, TwoBuffersTakeTwoVictims) {
  EXPECT_EQ(two_victims(2), 215);
}

// The only buffer is free when the first PutM is ordered, at 4060.
// The second PutM has its address phase at 4080. Its data is on the bus from 4190 to 4230, after the prefetch's (4140 to
// 4180) and a clock of turnaround.
// The load is stamped at 4070 and has its address phase at 4100. Its data is on the bus from 4240, after another clock of
// turnaround; at the pins 4250; done 4256.
TEST(WriteBack, AMissWaitsForAFreeBuffer) {
  EXPECT_EQ(two_victims(1), 255);
}

}  // namespace
}  // namespace linebounce::test
