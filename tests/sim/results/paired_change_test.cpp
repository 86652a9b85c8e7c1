#include "sim/results/paired_change.hpp"

#include <gmock/gmock.h>

namespace linebounce::sim {
namespace {

// Differences -1, -2, -3, -2, -2: mean -2, standard deviation sqrt(2/4) = 0.707107; t(0.975, 4) = 2.776, so the half width is
// 2.776 * 0.707107 / sqrt(5) = 0.877848. In percent of the base's mean, 14: -14.2857 % and 6.27034 %.
TEST(PairedChange, IsTheMeanDifferenceWithStudentsIntervalForFiveSeeds) {
  const PairedChange change = paired_change({10, 12, 14, 16, 18}, {9, 10, 11, 14, 16});
  EXPECT_DOUBLE_EQ(change.base, 14);
  EXPECT_DOUBLE_EQ(change.changed, 12);
  EXPECT_NEAR(change.change_pct, -14.2857, 1e-4);
  EXPECT_NEAR(change.ci95_pct, 6.27034, 1e-4);
  EXPECT_TRUE(change.significant());
}

// Both sides spread over a factor of ten, but each seed gains the same.
TEST(PairedChange, DifferencesBetweenSeedsCancelOut) {
  const PairedChange change = paired_change({10, 50, 100}, {11, 51, 101});
  EXPECT_DOUBLE_EQ(change.ci95_pct, 0);
  EXPECT_TRUE(change.significant());
}

// Differences 3, -1, 1: mean 1, standard deviation 2, half width 4.303 * 2 / sqrt(3) = 4.96867, so the interval includes 0.
TEST(PairedChange, AnIntervalThatHoldsZeroIsNotSignificant) {
  const PairedChange change = paired_change({100, 100, 100}, {103, 99, 101});
  EXPECT_DOUBLE_EQ(change.change_pct, 1);
  EXPECT_NEAR(change.ci95_pct, 4.96867, 1e-4);
  EXPECT_FALSE(change.significant());
}

TEST(PairedChange, NoChangeIsNotSignificant) {
  EXPECT_FALSE(paired_change({5, 7}, {5, 7}).significant());
}

TEST(PairedChange, AChangeIsRelativeToTheBasesSize) {
  EXPECT_DOUBLE_EQ(paired_change({-10, -10}, {-5, -5}).change_pct, 50);
}

}  // namespace
}  // namespace linebounce::sim
