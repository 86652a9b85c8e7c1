// Classifies a thread's misses on a line, by what happened since its last access: true or false sharing.
#include "commands/advise/line_histories.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace linebounce::sim {
namespace {

constexpr Address kLine = 0x10000;

class LineHistoriesTest : public ::testing::Test {
 protected:
  LineHistories lines{64};

  void hit(int cpu, Address offset, bool writes) { lines.add(access(cpu, offset, writes), nullptr); }
  MissCause& miss(int cpu, Address offset, bool writes) {
    misses_.emplace_back();
    lines.add(access(cpu, offset, writes), &misses_.back());
    return misses_.back();
  }

 private:
  static LineHistories::Access access(int cpu, Address offset, bool writes) {
    return {.cpu = cpu,
            .address = kLine + offset,
            .bytes = 8,
            .writes = writes,
            .use = {.reads = writes ? 0 : 1, .writes = writes ? 1 : 0}};
  }
  std::deque<MissCause> misses_;
};

TEST_F(LineHistoriesTest, AMissOnALineThatNobodyElseHasUsedIsOfTheThreadsOwnMaking) {
  EXPECT_EQ(miss(0, 0, true).why, Interference::none);
  hit(0, 8, true);
  EXPECT_EQ(miss(0, 0, false).why, Interference::none) << "evicted and fetched again";
}

TEST_F(LineHistoriesTest, AWriteOfOtherBytesSinceTheThreadsLastAccessIsFalseSharing) {
  miss(0, 0, true);
  miss(1, 8, true);
  EXPECT_EQ(miss(0, 0, true).why, Interference::other_bytes);
}

TEST_F(LineHistoriesTest, AWriteOfTheSameBytesIsTrueSharing) {
  miss(0, 0, true);
  miss(1, 0, true);
  const MissCause& cause = miss(0, 0, true);
  EXPECT_EQ(cause.why, Interference::same_bytes);
  EXPECT_FALSE(cause.first_touch);
  EXPECT_EQ(cause.word, kLine);
}

TEST_F(LineHistoriesTest, AMissThatFetchesWhatALaterHitNeedsWasNotInVain) {
  miss(0, 0, true);
  hit(0, 8, false);
  miss(1, 8, true);
  MissCause& cause = miss(0, 0, true);
  EXPECT_EQ(cause.why, Interference::other_bytes);
  hit(0, 8, false);
  EXPECT_EQ(cause.why, Interference::same_bytes);
  EXPECT_EQ(cause.word, kLine + 8);
}

TEST_F(LineHistoriesTest, AnUpgradeIsBlamedOnThoseWhoReadTheWordOrItsNeighbours) {
  miss(0, 0, true);
  miss(1, 8, false);
  EXPECT_EQ(miss(0, 0, true).why, Interference::other_bytes);
  miss(1, 0, false);
  EXPECT_EQ(miss(0, 0, true).why, Interference::same_bytes);
}

// Over the whole run both threads write both slots, as in true sharing. But between two accesses of one thread to a slot, the
// other thread only uses the other slot.
TEST_F(LineHistoriesTest, SlotsThatAreUsedInTurnAreSharedFalselyAtAnyTime) {
  miss(0, 0, true);
  miss(1, 8, true);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(miss(0, 0, true).why, Interference::other_bytes);
    EXPECT_EQ(miss(1, 8, true).why, Interference::other_bytes);
  }
  EXPECT_EQ(miss(0, 8, true).why, Interference::same_bytes) << "the slot changes hands";
}

TEST_F(LineHistoriesTest, TheUsersOfAWordAreCountedOnLinesOfSeveralThreads) {
  miss(0, 0, true);
  EXPECT_TRUE(lines.users(kLine).empty());
  miss(1, 0, true);
  hit(1, 0, false);
  ASSERT_EQ(lines.users(kLine).size(), 2);
  EXPECT_EQ(lines.users(kLine)[1].writes, 1);
  EXPECT_EQ(lines.users(kLine)[1].reads, 1);
}

}  // namespace
}  // namespace linebounce::sim
