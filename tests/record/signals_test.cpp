#include "record/collector/signals.hpp"

#include <gtest/gtest.h>

namespace linebounce::record {
namespace {

const int kFirst = 1, kSecond = 2;

TEST(ConditionCounts, AWaitIsEndedByTheFirstSignalBehindItsBeginning) {
  ConditionCounts counts;
  counts.signalled(false);  // nobody waits, so it wakes nobody
  counts.wait_begins(&kFirst);
  EXPECT_EQ(counts.signalled(false), 2U);
  EXPECT_EQ(counts.signalled(false), 3U);
  EXPECT_EQ(counts.woken(&kFirst, true), 2U);
}

TEST(ConditionCounts, ASignalEndsOneWaitAndABroadcastAll) {
  ConditionCounts counts;
  counts.wait_begins(&kFirst);
  counts.wait_begins(&kSecond);
  counts.signalled(false);
  counts.signalled(true);
  EXPECT_EQ(counts.woken(&kSecond, true), 1U);
  EXPECT_EQ(counts.woken(&kFirst, true), 2U);
  counts.wait_begins(&kFirst);
  counts.wait_begins(&kSecond);
  counts.signalled(true);
  EXPECT_EQ(counts.woken(&kFirst, true), 3U);
  EXPECT_EQ(counts.woken(&kSecond, true), 3U);
}

TEST(ConditionCounts, TimeOutsAndSpuriousWakeUpsNameNoSignal) {
  ConditionCounts counts;
  counts.wait_begins(&kFirst);
  EXPECT_EQ(counts.woken(&kFirst, true), std::nullopt);
  counts.wait_begins(&kFirst);
  counts.signalled(false);
  EXPECT_EQ(counts.woken(&kFirst, false), std::nullopt);
}

TEST(SemaphoreCounts, TheFirstWaitsAreForItsFirstValue) {
  SemaphoreCounts counts(2);
  EXPECT_EQ(counts.taken(), 0U);
  EXPECT_EQ(counts.taken(), 0U);
  counts.posted();
  EXPECT_EQ(counts.taken(), 1U);
}

TEST(SemaphoreCounts, AnUnrecordedInitialValueIsInferred) {
  SemaphoreCounts counts;
  EXPECT_EQ(counts.taken(), 0U);
  counts.posted();
  EXPECT_EQ(counts.taken(), 1U);
}

}  // namespace
}  // namespace linebounce::record
