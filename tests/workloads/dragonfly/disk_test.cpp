// The disk's times, calculated by hand, and the order in which it writes.
#include "workloads/dragonfly/disk.hpp"

#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"
#include "workloads/dragonfly/dirty_buffers.hpp"
#include "workloads/locks/lock_set.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr std::int64_t kMs = 1000000;

// A rotation takes 10 ms, a block 1 ms; a seek over n tracks 2 + sqrt(n) ms.
DiskOptions round_disk() {
  return {.tracks = 100, .blocks_per_track = 10, .turn_ms = 10, .least_seek_ms = 2, .full_seek_ms = 12, .queue_depth = 4};
}
// The same with one block per track, so the rotation never matters: a write takes its seek and 1 ms.
DiskOptions turning_fast() {
  DiskOptions options = round_disk();
  options.blocks_per_track = 1;
  options.turn_ms = 1;
  return options;
}

TEST(DiskArm, ASeekGrowsWithTheSquareRootOfItsDistance) {
  const DiskArm arm(round_disk());
  EXPECT_EQ(arm.seek_ns(0), 0);
  EXPECT_EQ(arm.seek_ns(1), 3 * kMs);
  EXPECT_EQ(arm.seek_ns(25), 7 * kMs);
  EXPECT_EQ(arm.seek_ns(100), 12 * kMs);
}

TEST(DiskArm, ABlockThatHasJustPassedCostsATurn) {
  DiskArm arm(round_disk());
  EXPECT_EQ(arm.write(0, 0), 1 * kMs);
  EXPECT_EQ(arm.write(1, 1 * kMs), 2 * kMs);  // the block right behind it, without a wait
  EXPECT_EQ(arm.write(5, 2 * kMs), 6 * kMs);  // the block passes the head at 5
  EXPECT_EQ(arm.write(5, 6 * kMs), 16 * kMs);
}

// Track 1 begins 3 blocks later than track 0, the time that the arm needs.
TEST(DiskArm, TheNextTrackFollowsWithoutAnotherTurn) {
  DiskArm arm(round_disk());
  EXPECT_EQ(arm.write(9, 9 * kMs), 10 * kMs);
  EXPECT_EQ(arm.write(10, 10 * kMs), 14 * kMs);
  EXPECT_EQ(arm.track(), 1);
}

TEST(DiskArm, SpeedDividesEveryTime) {
  DiskOptions options = round_disk();
  options.speed = 10;
  DiskArm arm(options);
  EXPECT_EQ(arm.seek_ns(25), 7 * kMs / 10);
  EXPECT_EQ(arm.write(5, 0), 6 * kMs / 10);
}

// Writes these blocks, given in the order in which dirty buffers leave their group, and returns the time from the first write
// to the end in ms.
double ms_to_write(const std::vector<std::int64_t>& blocks, bool sorted, const DiskOptions& options) {
  SmallMachine small(small_machine(1));
  AddressSpace space(small.machine.store());
  LockSet locks(space, 1);
  DirtyBuffers dirty(locks.create("ttas", "io_lock"), sorted);
  const Address group = space.place_array("group", 64);
  const Address ios = space.place_array("ios", static_cast<std::int64_t>(blocks.size() * DirtyBuffers::kIoBytes));
  for (std::size_t io = 0; io < blocks.size(); ++io)
    space.preset(ios + io * DirtyBuffers::kIoBytes + RedBlackTree::kKey, static_cast<Value>(blocks[io]));
  Interrupts interrupts(1);
  Disk disk(options, interrupts);
  double ms = 0;
  small.machine.set_functions(space.functions().size());
  small.run({[&](Cpu& cpu) {
    interrupts.start(cpu);
    for (std::size_t io = 0; io < blocks.size(); ++io) EXPECT_TRUE(dirty.add(cpu, group, ios + io * DirtyBuffers::kIoBytes));
    EXPECT_FALSE(dirty.add(cpu, group, ios));  // already dirty
    const double began_ns = cpu.now_ns();
    for (Address io = dirty.take(cpu, group); io != 0; io = dirty.take(cpu, group)) {
      while (disk.full()) cpu.sleep();
      disk.write(cpu, static_cast<std::int64_t>(cpu.load(io + RedBlackTree::kKey)));
    }
    while (!disk.idle()) cpu.sleep();
    ms = (cpu.now_ns() - began_ns) / 1e6;
  }});
  EXPECT_EQ(disk.written(), static_cast<std::int64_t>(blocks.size()));
  return ms;
}

// Seeks in list order 25 0 9 34: 7 + 7 + 5 + 7 ms; sorted, 0 9 25 34: 0 + 5 + 6 + 5 ms (2 + sqrt(n) each). Each of the four
// writes adds 1 ms. Each write that waits for the CPU's interrupt, and the first one, waits up to 1 ms for the rotation.
TEST(Disk, ListOrderTakesItsSeeksAsTheyCome) {
  DiskOptions options = turning_fast();
  options.queue_depth = 1;
  EXPECT_NEAR(ms_to_write({25, 0, 9, 34}, false, options), 26 + 4, 4.1);
}
TEST(Disk, SortedBuffersTakeShorterSeeks) {
  DiskOptions options = turning_fast();
  options.queue_depth = 1;
  EXPECT_NEAR(ms_to_write({25, 0, 9, 34}, true, options), 16 + 4, 4.1);
}

// From 25 the disk chooses the nearest block each time. Seeks: 7 ms to 25, 5 to 34 (9 tracks), 7 to 9 (25 tracks), 5 to 0.
TEST(Disk, WithAQueueItChoosesTheNearestItself) {
  EXPECT_NEAR(ms_to_write({25, 0, 9, 34}, false, turning_fast()), 24 + 4, 1.1);
}

// Four consecutive blocks of a track are in the disk's queue at once. So none waits for the CPU's reaction to the previous
// one, which would lose a turn.
TEST(Disk, WritesThatFollowEachOtherLoseNoTurn) {
  EXPECT_NEAR(ms_to_write({3, 4, 5, 6}, true, round_disk()), 7, 0.1);
}

}  // namespace
}  // namespace linebounce::test
