#include "sim/interleavings/checked_memory.hpp"

#include <gtest/gtest.h>

namespace linebounce::sim {
namespace {

constexpr Address kA = 0x100, kB = 0x140;

struct Words {
  LineStore store{64};
  CheckedMemory memory;
  explicit Words(Consistency consistency) : memory(store, 2, consistency) {}
};

TEST(CheckedMemory, AStoreIsSeenAtOnceUnderSc) {
  Words words(Consistency::sc);
  words.memory.store(0, {kA, 8, 7});
  EXPECT_EQ(words.memory.load(1, kA, 8), 7U);
  EXPECT_TRUE(words.memory.is_drained(0));
}

TEST(CheckedMemory, ABufferedStoreIsSeenByItsOwnCpuOnly) {
  Words words(Consistency::tso);
  words.memory.store(0, {kA, 8, 7});
  EXPECT_EQ(words.memory.load(0, kA, 8), 7U);
  EXPECT_EQ(words.memory.load(1, kA, 8), 0U);
  words.memory.drain(0, 0);
  EXPECT_EQ(words.memory.load(1, kA, 8), 7U);
}

TEST(CheckedMemory, UnderTsoOnlyTheOldestStoreReachesMemory) {
  Words words(Consistency::tso);
  words.memory.store(0, {kA, 8, 1});
  words.memory.store(0, {kB, 8, 1});
  EXPECT_EQ(words.memory.drainable(0), std::vector<int>{0});
}

TEST(CheckedMemory, UnderIa64StoresPassEachOtherUnlessTheyReleaseOrMeet) {
  Words words(Consistency::ia64);
  words.memory.store(0, {kA, 8, 1});
  words.memory.store(0, {kB, 8, 1});
  words.memory.store(0, {kA + 4, 4, 2});                    // within the first store
  words.memory.store(0, {kB + 8, 8, 1, /*release=*/true});  // waits for all earlier stores
  EXPECT_EQ(words.memory.drainable(0), (std::vector<int>{0, 1}));
  EXPECT_EQ(words.memory.drain(0, 1).address, kB);
  words.memory.drain(0, 0);
  EXPECT_EQ(words.memory.drainable(0), std::vector<int>{0}) << "the release waits for the one before it";
}

// As on a core whose store buffer forwards only from a single store that has all bytes.
TEST(CheckedMemory, ALoadOfMoreBytesThanAStoreHasWaitsForIt) {
  Words words(Consistency::tso);
  words.memory.store(0, {kA, 1, 1});
  EXPECT_TRUE(words.memory.can_load(0, kA, 1));
  EXPECT_FALSE(words.memory.can_load(0, kA, 4));
  EXPECT_TRUE(words.memory.can_load(1, kA, 4));
  EXPECT_TRUE(words.memory.can_load(0, kA + 1, 1));
  words.memory.store(0, {kB, 8, 0x0102});
  EXPECT_TRUE(words.memory.can_load(0, kB + 1, 1));
  EXPECT_EQ(words.memory.load(0, kB + 1, 1), 1U);
}

TEST(CheckedMemory, ABufferedStoreBelongsToTheState) {
  Words one(Consistency::tso), other(Consistency::tso);
  one.memory.store(0, {kA, 8, 1});
  Digest before, after;
  other.memory.add_to(before);
  one.memory.add_to(after);
  EXPECT_FALSE(before == after);
}

}  // namespace
}  // namespace linebounce::sim
