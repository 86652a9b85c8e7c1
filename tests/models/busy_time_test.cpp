#include "models/busy_time.hpp"

#include <gtest/gtest.h>

namespace linebounce::test {
namespace {

constexpr Tick kBegin = 100, kEnd = 200;

TEST(BusyTime, ATransferThatOutlastsTheMeasuredTimeCountsUpToItsEnd) {
  BusyTime busy(kBegin, kEnd);
  EXPECT_TRUE(busy.add(110, 20, 110, true));
  EXPECT_TRUE(busy.add(190, 50, 190, true));
  EXPECT_EQ(busy.until(kEnd), 20 + 10);
}

TEST(BusyTime, TransfersThatBeginOutsideOfTheMeasuredTimeDoNotCount) {
  BusyTime busy(kBegin, kEnd);
  EXPECT_FALSE(busy.add(90, 20, 90, true));
  EXPECT_FALSE(busy.add(200, 20, 200, true));
  EXPECT_EQ(busy.until(kEnd), 0);
}

// Nobody knows yet when the last program ends, and after that only stores and write-backs go on.
TEST(BusyTime, WhereTheEndComesLastWhatWasReservedBeyondItDoesNotCount) {
  BusyTime busy(0, kNever);
  busy.add(0, 10, 0, true);
  busy.add(10, 10, 10, true);
  busy.add(20, 30, 12, true);
  busy.add(50, 10, 30, false);
  busy.add(70, 10, 65, false);
  EXPECT_EQ(busy.until(25), 10 + 10 + 5);
  EXPECT_EQ(busy.until(1000), 10 + 10 + 30 + 10 + 10);
}

}  // namespace
}  // namespace linebounce::test
