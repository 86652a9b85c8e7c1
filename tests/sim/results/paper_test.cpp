#include "sim/results/paper.hpp"

#include <gmock/gmock.h>

namespace linebounce::sim {
namespace {

using testing::HasSubstr;

PaperRow row_with(double value, double tolerance) {
  PaperRow row;
  row.id = "ols2004.table1.l2_hit";
  row.metrics = {"cost.l2_hit"};
  row.value = value;
  row.tolerance = tolerance;
  row.kind = PaperKind::calibrated;
  return row;
}

ReportedPoint point_with(double value) {
  ReportedPoint point;
  point.metrics["cost.l2_hit"] = {value, "ns", std::nullopt};
  return point;
}

PaperResult judged(const PaperRow& row, const std::vector<double>& values) {
  std::vector<ReportedPoint> points;
  PaperPoints where;
  for (std::size_t i = 0; i < values.size(); ++i) {
    points.push_back(point_with(values[i]));
    where.at.push_back(static_cast<int>(i));
  }
  return evaluate(row, where, points, true);
}

TEST(PaperRow, WithinItsRelativeToleranceIsAHit) {
  EXPECT_EQ(judged(row_with(100, 0.03), {103}).ok, true);
  EXPECT_EQ(judged(row_with(100, 0.03), {103.1}).ok, false);
  EXPECT_EQ(judged(row_with(-100, 0.03), {-98}).ok, true);
}

TEST(PaperRow, RatioIsSimulatedOverPaperWithSixDigits) {
  const PaperResult result = judged(row_with(12.9, 0.03), {12.8571});
  EXPECT_EQ(result.ratio, 0.996674);
  EXPECT_EQ(result.simulated, 12.8571);
  EXPECT_EQ(result.unit, "ns");
}

TEST(PaperRow, ARowOfZeroHasNoRatioButMayHaveAnAbsoluteTolerance) {
  PaperRow row = row_with(0, 0.1);
  row.tolerance.reset();
  row.tolerance_abs = 0.5;
  EXPECT_EQ(judged(row, {0.4}).ok, true);
  EXPECT_EQ(judged(row, {0.6}).ok, false);
  EXPECT_FALSE(judged(row, {0.4}).ratio);
}

TEST(PaperRow, WithoutAnyToleranceIsNotScored) {
  PaperRow row = row_with(10, 0);
  row.tolerance.reset();
  EXPECT_FALSE(judged(row, {10}).ok);
}

TEST(PaperRow, ADefinitionIsNeverScored) {
  PaperRow row = row_with(1.4, 0.03);
  row.kind = PaperKind::input;
  EXPECT_FALSE(judged(row, {1.4}).ok);
  EXPECT_TRUE(judged(row, {1.4}).simulated);
}

TEST(PaperRow, ARowThatDecidesNothingIsShownButNotScored) {
  PaperRow row = row_with(1.4, 0.03);
  row.scored = false;
  EXPECT_FALSE(judged(row, {9}).ok);
  EXPECT_EQ(judged(row, {9}).simulated, 9);
}

TEST(PaperRow, APartOfAnotherMetricHasNoUnit) {
  PaperRow row = row_with(0.25, 0.01);
  row.of = "cost.main_memory";
  ReportedPoint point = point_with(20);
  EXPECT_THAT(evaluate(row, {{0}, {}}, {point}, true).problem, HasSubstr("no metric cost.main_memory"));
  point.metrics["cost.main_memory"] = {80.0, "ns", std::nullopt};
  const PaperResult result = evaluate(row, {{0}, {}}, {point}, true);
  EXPECT_EQ(result.simulated, 0.25);
  EXPECT_EQ(result.unit, "");
  EXPECT_EQ(result.ok, true);
  point.metrics["cost.main_memory"].value = 0.0;
  EXPECT_EQ(evaluate(row, {{0}, {}}, {point}, true).problem, "cost.main_memory is 0");
}

TEST(PaperRow, IsShownButNotScoredWhenTheMachineWasOverridden) {
  const PaperResult result = evaluate(row_with(10, 0.1), {{0}, {}}, {point_with(10)}, false);
  EXPECT_EQ(result.simulated, 10);
  EXPECT_FALSE(result.ok);
}

TEST(PaperRow, RelativeToAnotherPointIsARatioMinusOneWithoutUnit) {
  PaperRow row = row_with(0.25, 0.01);
  row.relative_to.emplace();
  const PaperResult result = evaluate(row, {{1}, {0}}, {point_with(80), point_with(100)}, true);
  EXPECT_EQ(result.simulated, 0.25);
  EXPECT_EQ(result.unit, "");
  EXPECT_EQ(result.ok, true);
}

PaperRow sign_row(ChangeSign sign) {
  PaperRow row = row_with(0, 0);
  row.value.reset();
  row.tolerance.reset();
  row.relative_to.emplace();
  row.sign = sign;
  return row;
}

PaperResult judged_change(const PaperRow& row, double base, double changed, std::optional<double> ci95 = std::nullopt) {
  std::vector<ReportedPoint> points = {point_with(base), point_with(changed)};
  for (ReportedPoint& point : points) point.metrics.at("cost.l2_hit").ci95 = ci95;
  return evaluate(row, {{1}, {0}}, points, true);
}

// The metric is a cost, so lower is better.
TEST(PaperRow, ASignAloneIsAGainOrALossFromOnePercentOn) {
  EXPECT_EQ(judged_change(sign_row(ChangeSign::gain), 100, 98.9).ok, true);
  EXPECT_EQ(judged_change(sign_row(ChangeSign::gain), 100, 99.1).ok, false);
  EXPECT_EQ(judged_change(sign_row(ChangeSign::gain), 100, 110).ok, false);
  EXPECT_EQ(judged_change(sign_row(ChangeSign::loss), 100, 110).ok, true);
  EXPECT_EQ(judged_change(sign_row(ChangeSign::none), 100, 99.1).ok, true);
  EXPECT_EQ(judged_change(sign_row(ChangeSign::none), 100, 98).ok, false);
  PaperRow bounded = sign_row(ChangeSign::none);
  bounded.visible = 0.03;
  EXPECT_EQ(judged_change(bounded, 100, 98).ok, true);
  bounded.better = Better::higher;
  EXPECT_EQ(judged_change(bounded, 100, 90).change->sign, ChangeSign::loss);
}

// Two intervals of 2 % of their means give one of 2.83 % of the ratio.
TEST(PaperRow, AChangeWithinItsIntervalIsNone) {
  const PaperResult result = judged_change(sign_row(ChangeSign::none), 100, 102.5, 2);
  EXPECT_EQ(result.ok, true);
  EXPECT_NEAR(*result.change->ci95, 0.0286, 1e-4);
  EXPECT_EQ(judged_change(sign_row(ChangeSign::none), 100, 103, 2).ok, false);
}

TEST(PaperRow, TheSignOfAFigureIsThatOfItsDirection) {
  PaperRow row = sign_row(ChangeSign::none);
  row.sign.reset();
  row.value = -0.2;
  EXPECT_EQ(published_sign(row), ChangeSign::gain);
  row.value = 0.005;
  EXPECT_EQ(published_sign(row), ChangeSign::none);
  row.difference = true;  // 0.005 ns
  EXPECT_EQ(published_sign(row), ChangeSign::loss);
  row.relative_to.reset();
  EXPECT_EQ(published_sign(row), std::nullopt);
  EXPECT_FALSE(judged_change(sign_row(ChangeSign::gain), 0, 5).change) << "of nothing";
}

TEST(PaperRow, ADifferenceKeepsTheUnit) {
  PaperRow row = row_with(-245, 0.25);
  row.relative_to.emplace();
  row.difference = true;
  const PaperResult result = evaluate(row, {{1}, {0}}, {point_with(500), point_with(300)}, true);
  EXPECT_EQ(result.simulated, -200);
  EXPECT_EQ(result.unit, "ns");
  EXPECT_EQ(result.ok, true);
}

TEST(PaperRow, AMetricThatTheRunDoesNotHaveIsAMissThatSaysSo) {
  const PaperResult result = evaluate(row_with(10, 0.1), {{0}, {}}, {ReportedPoint{}}, true);
  EXPECT_EQ(result.ok, false);
  EXPECT_THAT(result.problem, HasSubstr("cost.l2_hit"));
}

TEST(PaperRow, APointThatHasNotFinishedIsNotScored) {
  ReportedPoint unfinished;
  unfinished.finished = false;
  const PaperResult result = evaluate(row_with(10, 0.1), {{0}, {}}, {unfinished}, true);
  EXPECT_FALSE(result.ok);
  EXPECT_FALSE(result.simulated);
}

PaperRow shape_row(Shape shape) {
  PaperRow row = row_with(0, 0);
  row.value.reset();
  row.tolerance.reset();
  row.shape = shape;
  row.over = "machine.cpus";
  return row;
}

TEST(PaperShape, IncreasingMustRiseAtEveryStep) {
  EXPECT_EQ(judged(shape_row(Shape::increasing), {1, 2, 3}).ok, true);
  EXPECT_EQ(judged(shape_row(Shape::increasing), {1, 2, 2}).ok, false);
  EXPECT_EQ(judged(shape_row(Shape::decreasing), {3, 2, 1}).ok, true);
  EXPECT_EQ(judged(shape_row(Shape::decreasing), {3, 1, 2}).ok, false);
}

TEST(PaperShape, ToleranceForgivesAStepBackOfThatShare) {
  PaperRow row = shape_row(Shape::increasing);
  row.tolerance = 0.05;
  EXPECT_EQ(judged(row, {100, 96, 200}).ok, true);
  EXPECT_EQ(judged(row, {100, 94, 200}).ok, false);
}

TEST(PaperShape, FlatMeansLargestOverSmallestWithinOnePlusTolerance) {
  PaperRow row = shape_row(Shape::flat);
  row.tolerance = 0.1;
  EXPECT_EQ(judged(row, {100, 109, 105}).ok, true);
  EXPECT_EQ(judged(row, {100, 111}).ok, false);
  EXPECT_EQ(judged(row, {0, 0}).ok, true);
  EXPECT_EQ(judged(row, {0, 1}).ok, false);
}

TEST(PaperShape, AnOrderIsOverTheMetricsOfOnePoint) {
  PaperRow row = row_with(0, 0);
  row.value.reset();
  row.tolerance.reset();
  row.metrics = {"a.x", "a.y"};
  ReportedPoint point;
  point.metrics["a.x"] = {1.0, "ns", std::nullopt};
  point.metrics["a.y"] = {2.0, "ns", std::nullopt};
  EXPECT_EQ(evaluate(row, {{0}, {}}, {point}, true).ok, true);
  row.metrics = {"a.y", "a.x"};
  EXPECT_EQ(evaluate(row, {{0}, {}}, {point}, true).ok, false);
}

}  // namespace
}  // namespace linebounce::sim
