#include "models/text/spelling.hpp"

#include <gtest/gtest.h>

namespace linebounce {
namespace {

TEST(Spelling, DistanceCountsASwapOfNeighboursAsOneSlip) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("latency", "latency"), 0U);
  EXPECT_EQ(edit_distance("latnecy", "latency"), 1U);
  EXPECT_EQ(edit_distance("lateny", "latency"), 1U);
}

TEST(Spelling, CapitalsAreNoSlip) {
  EXPECT_EQ(edit_distance("GETS", "GetS"), 0U);
  EXPECT_EQ(edit_distance("getX", "GetM"), 1U);
}

TEST(Spelling, NothingIsSuggestedThatIsFarAway) {
  EXPECT_EQ(nearest("tickte", {"tas", "ticket"}), "ticket");
  EXPECT_EQ(nearest("qqqqqq", {"tas", "ticket"}), "");
  EXPECT_EQ(nearest("anything", {}), "");
}

TEST(Spelling, OfEquallyNearNamesTheFirstIsSuggested) {
  EXPECT_EQ(nearest("GetX", {"GetS", "GetM"}), "GetS");
}

}  // namespace
}  // namespace linebounce
