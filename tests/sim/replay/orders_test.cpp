#include "sim/replay/orders.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <utility>
#include <vector>

namespace linebounce::sim {
namespace {

// Student's factor for three values is 4.303. The logarithms 1, 2, 6 have the mean 3 and the standard deviation sqrt(7).
TEST(OrdersChange, IsTheMedianOfOrdersWithStudentsIntervalOfTheirLogarithms) {
  const OrdersChange change = orders_change({100, 200, 50}, {100 * std::exp(0.01), 200 * std::exp(0.02), 50 * std::exp(0.06)});
  EXPECT_NEAR(change.median_pct, 100 * std::expm1(0.02), 1e-9);
  EXPECT_NEAR(change.low_pct, 100 * std::expm1(0.03 - 0.04303 * std::sqrt(7.0 / 3)), 1e-9);
  EXPECT_NEAR(change.high_pct, 100 * std::expm1(0.03 + 0.04303 * std::sqrt(7.0 / 3)), 1e-9);
  EXPECT_NEAR(change.least_pct, 100 * std::expm1(0.01), 1e-9);
  EXPECT_EQ(change.orders, 3);
}

// The gains of examples/advice/ring_indices.c. An interval over the gains themselves, not over their logarithms, would reach
// from -784 to 3033 %.
TEST(OrdersChange, GainsThatDifferMuchAreNotALossAtTheLowerEnd) {
  const OrdersChange change = orders_change({1, 1, 1}, {7.81, 7.81, 21.1});
  EXPECT_TRUE(change.is_gain());
  EXPECT_GT(change.low_pct, 100);
}

// The gains of another recording of the same program.
TEST(OrdersChange, IsUndecidedIfEachOrderGainsAndTheIntervalHoldsZero) {
  const OrdersChange change = orders_change({1, 1, 1}, {9.45, 9.45, 2.34});
  EXPECT_FALSE(change.is_gain());
  EXPECT_TRUE(change.is_undecided());
  EXPECT_FALSE(orders_change({1, 1, 1}, {9.45, 9.45, 1.005}).is_undecided()) << "one order gains nothing worth a change";
  EXPECT_FALSE(orders_change({1, 1, 1}, {2.01, 2, 2.02}).is_undecided()) << "it is decided";
}

TEST(OrdersChange, PromisesNoMoreThanItsLeastOrderWhereItIsUndecided) {
  EXPECT_DOUBLE_EQ((OrdersChange{20, 5, 40, 12}.promise_pct()), 20);
  EXPECT_DOUBLE_EQ((OrdersChange{20, -5, 40, 12}.promise_pct()), 12);
  EXPECT_DOUBLE_EQ((OrdersChange{20, -5, 40, -1}.promise_pct()), 0);
}

std::vector<std::pair<int, int>> ranges(const OrdersChange& chosen) {
  std::vector<std::pair<int, int>> all;
  for (const OrderRange& range : confirming_orders(chosen, 3)) all.emplace_back(range.first, range.count);
  return all;
}

// Orders 1 to 3 chose the change, so they can't confirm it.
TEST(ConfirmingOrders, HadNoPartInTheChoiceAndAreMoreWhereThreeDecideNothing) {
  EXPECT_THAT(ranges({20, 5, 40, 12}), testing::ElementsAre(std::pair(4, 3), std::pair(7, 6)));
  EXPECT_THAT(ranges({20, -5, 40, 12}), testing::ElementsAre(std::pair(7, 6)));
}

TEST(TextOfAChange, IsInPercentAndFromThreeTimesOnAFactor) {
  EXPECT_EQ(text_of({12, 11.2, 12.8}), "+12.0 % (11.2 to 12.8)");
  EXPECT_EQ(throughput_text({12, 11.2, 12.8}), "+12.0 % (11.2 to 12.8) throughput");
  EXPECT_EQ(text_of({200, 180, 220}), "+200.0 % (180.0 to 220.0)");
  EXPECT_EQ(text_of({220, 190, 260}), "3.2 times as fast (2.9 to 3.6)");
  EXPECT_EQ(throughput_text({220, 190, 260}), "3.2 times as fast (2.9 to 3.6)");
  EXPECT_EQ(throughput_text(-3.04), "-3.0 % throughput");
  EXPECT_EQ(throughput_text(2004.1), "21.0 times as fast");
  EXPECT_EQ(gains_text({12, 11.2, 12.8}), "gains +12.0 % (11.2 to 12.8)");
  EXPECT_EQ(gains_text({220, 190, 260}), "makes it 3.2 times as fast (2.9 to 3.6)");
}

TEST(TextOfAChange, HasNoIntervalWhereAllOrdersAreTheSame) {
  EXPECT_EQ(text_of(orders_change({100, 100, 100}, {128, 128, 128})), "+28.0 % (the same in all 3)");
  EXPECT_EQ(interval_text(orders_change({100, 100, 100}, {128, 128, 128})), "the same in all 3");
  EXPECT_EQ(text_of(orders_change({100, 100, 100}, {2104, 2103.9, 2104.1})), "21.0 times as fast (the same in all 3)");
  EXPECT_EQ(text_of(orders_change({100, 100}, {500, 500})), "5.0 times as fast (the same in both)");
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
  EXPECT_NEAR(trials.change(1).median_pct, 100 * (std::sqrt(1.01 * 1.02) - 1), 1e-9);
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
  const TrialsInOrders nothing({running_at(100), running_at(0), running_at(200), running_at(204)}, 2);
  EXPECT_FALSE(nothing.finished(1)) << "no factor tells what happened";
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

TEST(OrdersChange, IsNotAVerdictWhereMoreThanOneTryOfTwentyWouldDecideOtherwise) {
  OrdersChange gain{20, 5, 40, 12}, undecided{20, -5, 40, 12}, loss{-20, -40, -5, -30};
  for (OrdersChange* change : {&gain, &undecided, &loss}) change->tries_otherwise_pct = 5;
  EXPECT_TRUE(gain.is_gain());
  EXPECT_TRUE(undecided.is_undecided());
  EXPECT_TRUE(loss.is_loss());
  for (OrdersChange* change : {&gain, &undecided, &loss}) change->tries_otherwise_pct = 5.1;
  EXPECT_FALSE(gain.is_gain() || undecided.is_undecided() || loss.is_loss());
  EXPECT_EQ(gain.promise_pct(), 0);
  EXPECT_EQ(why_no_verdict(5), "");
  EXPECT_EQ(why_no_verdict(12.34), "12.3 % of the program's tries of locks went another way than recorded");
}

}  // namespace
}  // namespace linebounce::sim
