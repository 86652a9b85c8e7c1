// When a line's first data is ready, given banks and bandwidth. 1 tick is 0.1 ns here.
#include "models/memory/memory_controller.hpp"

#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr Tick kNs = 10;

class MemoryUnderTest {
 public:
  explicit MemoryUnderTest(const MemorySpec& spec)
      : timebase_(std::array{Frequency{1000, 1}}), controller_(spec, timebase_, 32) {}
  // Times in ns.
  Tick read(std::uint64_t line, Tick at) { return controller_.read(LineAddr(line), at * kNs) / kNs; }
  void write(std::uint64_t line, Tick at) { controller_.write(LineAddr(line), at * kNs); }

 private:
  Timebase timebase_;
  MemoryController controller_;
};

TEST(MemoryController, DataIsReadyALatencyAfterTheAddress) {
  MemoryUnderTest memory({.latency_ns = 100});
  EXPECT_EQ(memory.read(1, 1000), 1100);
  EXPECT_EQ(memory.read(2, 1010), 1110) << "nothing limits how many are under way";
}

TEST(MemoryController, ABusyBankDelaysTheNextAccessToIt) {
  MemoryUnderTest memory({.latency_ns = 100, .banks = 2, .bank_busy_ns = 40});
  EXPECT_EQ(memory.read(0, 1000), 1100);
  EXPECT_EQ(memory.read(2, 1010), 1140) << "bank 0 again, busy until 1040";
  EXPECT_EQ(memory.read(1, 1010), 1110) << "bank 1 is free";
  EXPECT_EQ(memory.read(4, 1100), 1200) << "bank 0 is free since 1080";
}

// The shortest time that a bank can be busy: a tick is 0.1 ns.
TEST(MemoryController, ABankMayBeBusyForASingleTick) {
  MemoryController controller({.latency_ns = 100, .bank_busy_ns = 0.1}, Timebase(std::array{Frequency{1000, 1}}), 32);
  EXPECT_EQ(controller.read(LineAddr(0), 1000 * kNs), 1100 * kNs);
  EXPECT_EQ(controller.read(LineAddr(0), 1000 * kNs), 1100 * kNs + 1);
}

TEST(MemoryController, AWriteOccupiesItsBank) {
  MemoryUnderTest memory({.latency_ns = 100, .banks = 2, .bank_busy_ns = 40});
  memory.write(0, 1000);
  EXPECT_EQ(memory.read(2, 1000), 1140);
  EXPECT_EQ(memory.read(1, 1000), 1100);
}

TEST(MemoryController, BanksThatAreNeverBusyAddNoDelay) {
  MemoryUnderTest memory({.latency_ns = 100});
  memory.write(0, 1500);  // its data comes later
  EXPECT_EQ(memory.read(0, 1000), 1100);
}

TEST(MemoryController, AllBanksShareTheBandwidth) {
  MemoryUnderTest memory({.latency_ns = 100, .banks = 8, .bandwidth_mb_per_s = 320});  // 32 bytes in 100 ns
  EXPECT_EQ(memory.read(0, 1000), 1100);
  EXPECT_EQ(memory.read(1, 1000), 1200);
  memory.write(2, 1000);
  EXPECT_EQ(memory.read(3, 1000), 1400);
}

// The first two lines are of one bank, which is busy until 1400. The channel's first three slots begin at 1000, 1100 and 1200.
TEST(MemoryController, AnAccessThatWaitsForItsBankLeavesTheChannelToOthers) {
  MemoryUnderTest memory({.latency_ns = 100, .banks = 2, .bank_busy_ns = 400, .bandwidth_mb_per_s = 320});
  EXPECT_EQ(memory.read(0, 1000), 1100);
  EXPECT_EQ(memory.read(2, 1000), 1500);
  EXPECT_EQ(memory.read(1, 1000), 1300);
}

// The two misses' address phases are at 2030 and 2050. Their lines are in the same bank, which is busy until 2230: data 2330,
// at the pins 2340, done 2346.
TEST(MemoryBanks, TwoMissesToOneBankAreServedOneAfterTheOther) {
  MachineSpec spec = small_machine(2);
  spec.memory.banks = 2;
  spec.memory.bank_busy_ns = 200;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146); },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine + 64); }), 346); }});
}

// Both banks read at the same time, so the second line waits only for the first to leave the data bus, at 2170.
TEST(MemoryBanks, TwoMissesToTwoBanksOverlap) {
  MachineSpec spec = small_machine(2);
  spec.memory.banks = 2;
  spec.memory.bank_busy_ns = 200;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146); },
             [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine + 32); }), 186); }});
}

}  // namespace
}  // namespace linebounce::test
