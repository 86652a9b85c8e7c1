#include "sim/lines/rank_correlation.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace linebounce::sim {
namespace {

TEST(RankCorrelation, TheOrderAloneCounts) {
  EXPECT_EQ(rank_correlation({1, 2, 3, 4}, {10, 11, 500, 501}), 1);
  EXPECT_EQ(rank_correlation({1, 2, 3, 4}, {9, 8, 7, 1}), -1);
}

// Ranks 1 2 3 4 5 and 2 1 4 3 5. Four differences of 1: 1 - 6 x 4 / (5 x 24) = 0.8.
TEST(RankCorrelation, IsSpearmansWithoutTies) {
  EXPECT_DOUBLE_EQ(rank_correlation({10, 20, 30, 40, 50}, {7, 3, 19, 11, 90}).value(), 0.8);
}

// Equal values share the mean of their ranks: 1 2.5 2.5 4 against 1 2 3 4. Relative to the mean of 2.5: -1.5 0 0 1.5 against
// -1.5 -0.5 0.5 1.5, which is 4.5 / sqrt(4.5 x 5).
TEST(RankCorrelation, EqualValuesShareTheMeanOfTheirRanks) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 5, 5, 9}, {1, 2, 3, 4}).value(), 4.5 / std::sqrt(4.5 * 5));
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {1, 5, 5, 9}).value(), 4.5 / std::sqrt(4.5 * 5));
}

TEST(RankCorrelation, IsAbsentWithoutAMeasuredOrder) {
  EXPECT_EQ(rank_correlation({}, {}), std::nullopt);
  EXPECT_EQ(rank_correlation({3}, {4}), std::nullopt);
  EXPECT_EQ(rank_correlation({3, 3}, {4, 5}), std::nullopt);
}

TEST(RankCorrelation, ASimulationThatTellsNoOrderHasFoundNone) {
  EXPECT_EQ(rank_correlation({1, 2, 3}, {0, 0, 0}), 0);
}

TEST(Median, OfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

}  // namespace
}  // namespace linebounce::sim
