// How long the instructions of a recorded program take.
#include "workloads/replay/recorded_pace.hpp"

#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

using workloads::RecordedPace;

MachineSpec machine(double cycles_per_instruction) {
  MachineSpec spec = small_machine(1);
  spec.cpu.issue_per_cycle = 4;
  spec.cpu.cycles_per_instruction = cycles_per_instruction;
  spec.caches.front().hit_latency_cycles = 4;
  return spec;
}

// Issue alone takes 1000 / 4 = 250 cycles. 1000 x 0.7 = 700 are wanted.
TEST(RecordedPace, StallsForWhatInstructionsTakeBeyondTheirIssue) {
  std::int64_t ahead = 0;
  EXPECT_EQ(RecordedPace(machine(0.7)).stall(ahead, 1000), 450);
  EXPECT_EQ(RecordedPace(machine(2)).stall(ahead, 1000), 1750);
}

// A hit takes 4 cycles where an instruction has 0.7, so that ten of them are 33 cycles ahead of the program's pace.
TEST(RecordedPace, TakesTheTimeOfHitsFromTheInstructionsThatFollow) {
  std::int64_t ahead = 0;
  const RecordedPace pace(machine(0.7));
  for (int i = 0; i < 10; ++i) pace.accessed(ahead, true);
  EXPECT_EQ(pace.stall(ahead, 1000), 450 - 33);
}

TEST(RecordedPace, ForgetsHitsOfLongAgo) {
  std::int64_t ahead = 0;
  const RecordedPace pace(machine(0.7));
  for (int i = 0; i < 10000; ++i) pace.accessed(ahead, true);
  EXPECT_EQ(pace.stall(ahead, 1000), 450 - 200);
}

// A core that looks ahead does other instructions meanwhile.
TEST(RecordedPace, GivesAHitOfTheNearestCacheItsCycleAndNotItsLatency) {
  const MachineSpec spec = workloads::overlapping_hits(machine(0.7));
  EXPECT_EQ(spec.caches.front().hit_latency_cycles, 1);
  std::int64_t ahead = 0;
  const RecordedPace pace(spec);
  for (int i = 0; i < 10; ++i) pace.accessed(ahead, true);
  EXPECT_EQ(pace.stall(ahead, 1000), 450 - 3);
}

// Ten times 0.45 cycles are 4 whole ones, and a half that is not lost.
TEST(RecordedPace, KeepsPartsOfCycles) {
  std::int64_t ahead = 0, cycles = 0;
  const RecordedPace pace(machine(0.7));
  for (int i = 0; i < 20; ++i) cycles += pace.stall(ahead, 1);
  EXPECT_EQ(cycles, 9);
}

}  // namespace
}  // namespace linebounce::test
