// The bus's highest bandwidth, and the cost of false sharing.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr double kWarmupUs = 10;
constexpr double kMeasureUs = 100;

// Eight CPUs each read their own memory line by line. Returns the MB/s of all.
double measured_bandwidth(const MachineSpec& spec) {
  SmallMachine small(spec, {}, kWarmupUs, kMeasureUs);
  std::vector<Core::Program> readers(8, [](Cpu& cpu) {
    Address at = Address{0x1000000} * static_cast<Address>(1 + cpu.id().value);
    for (;; at += 32) {
      cpu.load(at);
      cpu.tally(0);
    }
  });
  small.run(std::move(readers));
  std::int64_t lines = 0;
  for (int cpu = 0; cpu < 8; ++cpu) lines += small.machine.cpu(cpu).tallied(0);
  return static_cast<double>(lines) * 32 / kMeasureUs;
}

TEST(BusSaturation, DataOfEightReadersFillsTheDataBus) {
  const double limit = 8.0 / 10 * 1000;  // 8 bytes every 10 ns
  EXPECT_NEAR(measured_bandwidth(small_machine(8)), limit, limit / 100);
}

TEST(BusSaturation, SlowAddressPhasesLimitWhatTheDataBusCouldCarry) {
  MachineSpec spec = small_machine(8);
  spec.bus.address_clocks = 8;
  const double limit = 32.0 / 80 * 1000;  // 8 clocks of 10 ns for each line
  EXPECT_NEAR(measured_bandwidth(spec), limit, limit / 100);
}

TEST(BusSaturation, ASlowMemoryLimitsWhatTheBusCouldCarry) {
  MachineSpec spec = small_machine(8);
  spec.memory.bandwidth_mb_per_s = 200;
  EXPECT_NEAR(measured_bandwidth(spec), 200, 2);
}

TEST(BusSaturation, BusyBanksLimitWhatTheBusCouldCarry) {
  MachineSpec spec = small_machine(8);
  spec.memory.banks = 1;
  spec.memory.bank_busy_ns = 128;
  EXPECT_NEAR(measured_bandwidth(spec), 32.0 / 128 * 1000, 2.5);
}

// Stores once, then measures 100 increments from 2000 on, in ns.
Core::Program increments(Address word, double& taken) {
  return [word, &taken](Cpu& cpu) {
    cpu.store(word, 1);
    taken = cycles_from(cpu, 2000, [&] {
      for (int i = 0; i < 100; ++i) {
        const Value value = cpu.load(word);
        cpu.store(word, value + 1);
      }
    });
    EXPECT_EQ(cpu.load(word), 101U);
  };
}

TEST(FalseSharing, FieldsOnLinesOfTheirOwnCostNothingExtra) {
  SmallMachine small(small_machine(2));
  double first = 0;
  double second = 0;
  small.run({increments(kLine, first), increments(kLine + 32, second)});
  EXPECT_EQ(first, 300) << "a load of 2 cycles and a store of 1";
  EXPECT_EQ(second, 300);
  EXPECT_EQ(small.transactions(), 2);
}

// The line alternates between the CPUs. A CPU that loses it requests it at once. The snoop takes it from the other CPU no
// sooner than 50 ns later. In that time the other CPU makes at most 50 / 3 increments (3 cycles each), so 100 increments take
// at least 6 transfers. For 46 ns of each transfer neither CPU has the line: 30 for the intervention, 10 for the latch, 5 +
// 1.
TEST(FalseSharing, FieldsOfOneLineCostATransferAgainAndAgain) {
  SmallMachine small(small_machine(2));
  double first = 0;
  double second = 0;
  small.run({increments(kLine, first), increments(kLine + 8, second)});
  EXPECT_GE(std::max(first, second), 300 + 6 * 46);
  EXPECT_GE(small.transitions("M", "Other_GetM") + small.transitions("M", "Other_GetS"), 2 * 6);
}

}  // namespace
}  // namespace linebounce::test
