// Tests requests for one line: whether they overlap, and how long the owner's cache keeps the line. A load at 2000 that
// misses: stamped 2010, granted 2020, address phase 2030, snoop result 2070, memory's first data 2130, at the pins 2140; the
// load starts at 2145 and ends at 2146, when the line is free.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr Address kElsewhere = kLine + 0x100;

Core::Program timed_load(Address address, double& cycles) {
  return [address, &cycles](Cpu& cpu) { cycles = cycles_from(cpu, 2000, [&] { cpu.load(address); }); };
}

// CPU 1's address phase is at 2050, so memory reads for it at once and has the data at 2150. CPU 1's snoop, due at 2090,
// finds the line busy and is sampled again every 20, until 2150. CPU 0's data occupies the data bus until 2170; then CPU 1's
// takes 10 to the pins, and 5 + 1.
TEST(SameLine, AStalledSnoopHasItsAddressPhaseBehindIt) {
  SmallMachine small(small_machine(2));
  double first = 0;
  double second = 0;
  small.run({timed_load(kLine, first), timed_load(kLine, second)});
  EXPECT_EQ(first, 146);
  EXPECT_EQ(second, 170 + 10 + 5 + 1);
}

// CPU 1's request for the same line waits until the line is free at 2146, and is granted at the next edge, 2150: address
// phase 2160, memory's data 2260, 10 to the pins, 5 + 1. CPU 2's request, for another line, is granted meanwhile: its data is
// ready at 2150 and waits for the data bus until 2170.
TEST(SameLine, WithOneTransactionPerLineTheNextPaysItsWholeLatency) {
  MachineSpec spec = small_machine(3);
  spec.bus.one_per_line = true;
  SmallMachine small(spec);
  double first = 0;
  double second = 0;
  double elsewhere = 0;
  small.run({timed_load(kLine, first), timed_load(kLine, second), timed_load(kElsewhere, elsewhere)});
  EXPECT_EQ(first, 146);
  EXPECT_EQ(second, 260 + 10 + 5 + 1);
  EXPECT_EQ(elsewhere, 170 + 10 + 5 + 1);
}

// The attempts of both CPUs, summed: those that found the line in the CPU's own cache, and those that missed.
struct Attempts {
  int hits = 0;
  int misses = 0;
};

Attempts attempts_with(double hold_ns) {
  MachineSpec spec = small_machine(2);
  spec.cpu.hold_ns = hold_ns;
  SmallMachine small(spec);
  const auto loop = [](Cpu& cpu) {
    wait_until(cpu, 2000);
    for (int i = 0; i < 100; ++i) cpu.compare_exchange(kLine, 1, 2);
  };
  small.run({loop, loop});
  Attempts attempts;
  attempts.misses = static_cast<int>(small.misses().size());
  attempts.hits = 200 - attempts.misses;
  return attempts;
}

// Both CPUs use the line all the time. If a CPU gives it up at once, each attempt needs a transfer, except for the last few,
// when the other CPU has finished.
TEST(SameLine, TheLoserOfARaceForALineMissesAgain) {
  const Attempts attempts = attempts_with(0);
  EXPECT_GT(attempts.misses, 190);
}

// 10 ns is less than an attempt takes (30), so a CPU that keeps the line makes one more attempt: two attempts for each
// transfer.
TEST(SameLine, AKeptLineServesTheNextAttemptToo) {
  const Attempts attempts = attempts_with(10);
  EXPECT_NEAR(attempts.misses, 100, 10);
}

}  // namespace
}  // namespace linebounce::test
