#include "models/busy_time.hpp"

#include <gtest/gtest.h>

namespace linebounce::test {
namespace {

constexpr Tick kBegin = 100, kEnd = 200;
constexpr std::size_t kLatest = 8;

TEST(BusyTime, ATransferThatOutlastsTheMeasuredTimeCountsUpToItsEnd) {
  BusyTime<kLatest> busy(kBegin, kEnd);
  EXPECT_TRUE(busy.add(110, 20, kEnd));
  EXPECT_TRUE(busy.add(190, 50, kEnd));
  EXPECT_EQ(busy.until(kEnd), 20 + 10);
}

TEST(BusyTime, TransfersThatBeginOutsideOfTheMeasuredTimeDoNotCount) {
  BusyTime<kLatest> busy(kBegin, kEnd);
  EXPECT_FALSE(busy.add(90, 20, kEnd));
  EXPECT_FALSE(busy.add(200, 20, kEnd));
  EXPECT_EQ(busy.until(kEnd), 0);
}

// The measured time ends with the last program, at 25, which is not known before. Later transfers, of stores and write-backs
// that the programs left behind, do not count.
TEST(BusyTime, TransfersBeyondTheEndDoNotCountEvenIfItIsNotKnownBefore) {
  BusyTime<kLatest> busy(0, kNever);
  EXPECT_TRUE(busy.add(0, 10, kNever));
  EXPECT_TRUE(busy.add(10, 10, kNever));
  EXPECT_TRUE(busy.add(20, 30, kNever));
  EXPECT_TRUE(busy.add(50, 10, kNever));
  EXPECT_TRUE(busy.add(70, 10, 25));
  EXPECT_EQ(busy.until(25), 10 + 10 + 5);
}

TEST(BusyTime, AsManyTransfersAsItRemembersMayOutlastTheEnd) {
  constexpr Tick kLast = 10 * static_cast<Tick>(kLatest);
  BusyTime<kLatest> busy(0, kNever);
  for (Tick from = 0; from < 2 * kLast; from += 10) busy.add(from, 10, kNever);
  for (const Tick end : {kLast, kLast + 5, 2 * kLast - 1}) EXPECT_EQ(busy.until(end), end);
}

TEST(BusyTime, WithMoreItIsStillNeverBusierThanTheTime) {
  BusyTime<kLatest> busy(0, kNever);
  for (Tick from = 0; from < 10'000; from += 10) busy.add(from, 10, kNever);
  EXPECT_EQ(busy.until(50), 50);
}

}  // namespace
}  // namespace linebounce::test
