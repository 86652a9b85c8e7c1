#include "sim/studies/replay/orders.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace linebounce::sim {
namespace {

// Student's factor for three is 4.303; the differences 1, 2, 6 have the mean 3 and the deviation sqrt(7).
TEST(OrdersChange, IsTheMedianOfOrdersWithStudentsIntervalOfTheirMean) {
  const OrdersChange change = orders_change({100, 200, 50}, {101, 204, 53});
  EXPECT_DOUBLE_EQ(change.median_pct, 2);
  EXPECT_NEAR(change.low_pct, 3 - 4.303 * std::sqrt(7.0 / 3), 1e-9);
  EXPECT_NEAR(change.high_pct, 3 + 4.303 * std::sqrt(7.0 / 3), 1e-9);
}

TEST(OrdersChange, IsAGainAboveOnePercentIfTheIntervalExcludesZero) {
  EXPECT_TRUE((OrdersChange{1, 0.1, 2}.is_gain()));
  EXPECT_FALSE((OrdersChange{0.9, 0.8, 1}.is_gain()));
  EXPECT_FALSE((OrdersChange{5, -0.1, 10}.is_gain()));
}

ReportedPoint running_at(double per_s) {
  return ReportedPoint{{}, {{kThroughput, {per_s, "1/s", {}}}}};
}

TEST(TrialsInOrders, ComparesEachTrialWithTheUnchangedOneOfItsOrder) {
  const TrialsInOrders trials({running_at(100), running_at(101), running_at(200), running_at(204)}, 2);
  EXPECT_DOUBLE_EQ(trials.change(1).median_pct, 1.5);
  EXPECT_THAT(trials.throughputs(1), testing::ElementsAre(101, 204));
}

TEST(TrialsInOrders, AnOrderWithoutSomethingToCompareWithIsLeftOut) {
  ReportedPoint failed;
  failed.finished = false;
  const TrialsInOrders one({running_at(100), running_at(101), failed, running_at(204)}, 2);
  EXPECT_EQ(one.count(), 1);
  EXPECT_FALSE(one.are_enough());
  const TrialsInOrders half({running_at(100), failed, running_at(200), running_at(204)}, 2);
  EXPECT_TRUE(half.are_enough());
  EXPECT_FALSE(half.finished(1));
}

TEST(Orders, EachTrialRunsInEachOrder) {
  ReplayStudy study;
  study.sweep = {{"layout.changes", toml::array{"none", "cell"}}};
  repeat_in_orders(study, 4, 2);
  ASSERT_EQ(study.sweep.size(), 2);
  EXPECT_EQ(study.sweep[0].first, "workload.order");
  EXPECT_EQ(study.sweep[0].second, (toml::array{4, 4, 5, 5}));
  EXPECT_EQ(study.sweep[1].second, (toml::array{"none", "cell", "none", "cell"}));
}

}  // namespace
}  // namespace linebounce::sim
