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

// The compared words may be parts of longer texts. Here a "b" precedes each "a"; if it counted, "ab" would look like "ba"
// with swapped letters.
TEST(Spelling, DistanceLooksAtNothingBeforeAWord) {
  const std::string_view a = std::string_view("ba").substr(1);
  EXPECT_EQ(edit_distance(a, "xab"), 2U);
  EXPECT_EQ(edit_distance("xab", a), 2U);
}

TEST(Spelling, CapitalsAreNotASlip) {
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

TEST(Spelling, TheNearestFewAreSlipsThenNamesThatBeginWithTheWordThenNamesThatHoldIt) {
  EXPECT_EQ(nearest_few("ticket", {"ticket_backoff", "tickte", "tas", "tciket", "ticket2"}, 3),
            (std::vector<std::string>{"tickte", "tciket", "ticket2"}));
  EXPECT_EQ(nearest_few("ticket", {"my_ticket_lock", "tas", "ticket_with_backoff", "ticket_of_two"}, 3),
            (std::vector<std::string>{"ticket_of_two", "ticket_with_backoff", "my_ticket_lock"}));
  EXPECT_TRUE(nearest_few("qqqqqq", {"tas", "ticket"}, 3).empty());
}

}  // namespace
}  // namespace linebounce
