// Tests requests for one line: whether they overlap, and how long the owner's cache keeps it. A load of the small machine
// that misses at 2000: 2010 stamped; 2020 granted, on the next edge; 2030 address phase; 2070 snoop result; 2130 memory's
// first data; 2140 at the pins; 2145 the load starts; 2146 it ends, and the line is free.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr Address kElsewhere = kLine + 0x100;

Core::Program timed_load(Address address, double& cycles) {
  return [address, &cycles](Cpu& cpu) { cycles = cycles_from(cpu, 2000, [&] { cpu.load(address); }); };
}

// CPU 1's address phase is at 2050, so memory has started to read for it, and has the data at 2150. CPU 1's snoop result, due
// at 2090, is stalled in steps of 20 until the line is free, also at 2150. The first line keeps the data bus until 2170. Then
// it takes 10 to the pins, and 5 + 1.
TEST(SameLine, AStalledSnoopHasItsAddressPhaseBehindIt) {
  SmallMachine small(small_machine(2));
  double first = 0;
  double second = 0;
  small.run({timed_load(kLine, first), timed_load(kLine, second)});
  EXPECT_EQ(first, 146);
  EXPECT_EQ(second, 170 + 10 + 5 + 1);
}

// The request is granted only on the edge at 2150: address phase 2160, memory's data 2260. Meanwhile a request for another
// line overtakes it, like the second one in the test above.
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

// How many attempts of CPU 0 fail before it has kept the line without a break for two of them.
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

// Both CPUs want the line all the time. Without a window every attempt is a transfer; only the last ones are not, when one
// CPU remains.
TEST(SameLine, TheLoserOfARaceForALineMissesAgain) {
  const Attempts attempts = attempts_with(0);
  EXPECT_GT(attempts.misses, 190);
}

// The window is shorter than an attempt, so each transfer serves two: the one that fetched the line and the next.
TEST(SameLine, AKeptLineServesTheNextAttemptToo) {
  const Attempts attempts = attempts_with(10);
  EXPECT_NEAR(attempts.misses, 100, 10);
}

}  // namespace
}  // namespace linebounce::test
