#include "sim/terminal/metrics_table.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/sim/terminal/plain.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

std::vector<std::string> fitting_lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    EXPECT_LE(width_of(line), kTerminalWidth) << line;
    lines.push_back(line);
  }
  return lines;
}

// Two locks on 1, 2 and 4 CPUs; one CPU alone has no misses.
std::vector<ReportedPoint> locks_by_cpus() {
  std::vector<ReportedPoint> points;
  for (const char* lock : {"ticket", "ttas"}) {
    for (const std::int64_t cpus : {1, 2, 4}) {
      ReportedPoint point;
      point.at = {{"workload.lock", std::string(lock)}, {"machine.cpus", cpus}};
      point.metrics["bus.transactions"] = {std::int64_t{6111}, "", {}};
      point.metrics["bus.utilisation_pct"] = {16.51, "%", {}};
      point.metrics["cpi.kernel"] = {1.25 * static_cast<double>(cpus), "", {}};
      point.metrics["latency.l1.mean_ns"] = {4.286, "ns", {}};
      if (cpus > 1) point.metrics["latency.local_c2c.mean_ns"] = {137.66, "ns", {}};
      point.metrics["throughput.operations_per_s"] = {1064000.0 / static_cast<double>(cpus), "1/s", {}};
      points.push_back(std::move(point));
    }
  }
  return points;
}

std::string line_with(const std::string& table, const std::string& part) {
  for (const std::string& line : fitting_lines_of(table)) {
    if (line.find(part) != std::string::npos) return line;
  }
  return "no line has " + part;
}

TEST(MetricsTable, AFewPointsStandSideBySideWithAllMetrics) {
  std::vector<ReportedPoint> points(4);
  for (ReportedPoint& point : points) {
    point.at = {{"machine.cpus", std::int64_t{2}}};
    point.metrics["bus.transactions"] = {std::int64_t{7}, "", {}};
    point.metrics["latency.local_memory.mean_ns"] = {123.456, "ns", 1.2345};
  }
  const std::string table = metrics_table(points, kPlain);
  fitting_lines_of(table);
  EXPECT_THAT(table, HasSubstr("point 3"));
  EXPECT_THAT(line_with(table, "bus.transactions"), MatchesRegex(" +bus.transactions +7 .*"));
}

void add_lock_metrics(ReportedPoint& point) {
  point.metrics["locks.dcache_lock.con_pct"] = {16.5, "%", {}};
  point.metrics["locks.idle_lock.con_pct"] = {0.0, "%", {}};
  point.metrics["locks.dcache_lock.total"] = {std::int64_t{15069563}, "", {}};
  point.metrics["locks.dcache_lock.d_lookup.con_pct"] = {17.2, "%", {}};
}

TEST(MetricsTable, OfOnePointLeavesLocksToTheirOwnTable) {
  std::vector<ReportedPoint> points(1);
  points[0].metrics["bus.transactions"] = {std::int64_t{7}, "", {}};
  add_lock_metrics(points[0]);
  EXPECT_THAT(metrics_table(points, kPlain), Not(HasSubstr("locks.")));
}

TEST(MetricsTable, OfAFewPointsHasTheFiguresByWhichLocksAreCompared) {
  std::vector<ReportedPoint> points(2);
  for (ReportedPoint& point : points) {
    point.at = {{"machine.cpus", std::int64_t{2}}};
    add_lock_metrics(point);
  }
  const std::string table = metrics_table(points, kPlain);
  EXPECT_THAT(table, HasSubstr("locks.dcache_lock.con_pct"));
  EXPECT_THAT(table, Not(HasSubstr("idle_lock"))) << "nobody waited for it";
  EXPECT_THAT(table, Not(HasSubstr("total")));
  EXPECT_THAT(table, Not(HasSubstr("d_lookup")));
}

TEST(SweepTable, HasContentionAndWaitsOfOneLock) {
  auto points = locks_by_cpus();
  for (ReportedPoint& point : points) {
    point.metrics["locks.dcache_lock.con_pct"] = {16.5, "%", {}};
    point.metrics["locks.dcache_lock.wait_mean_us"] = {5.0, "us", {}};
  }
  EXPECT_THAT(metrics_table(points, kPlain), HasSubstr("16.50   5.000"));
}

TEST(SweepTable, OfAFewLocksHasTheContention) {
  auto points = locks_by_cpus();
  for (ReportedPoint& point : points) {
    add_lock_metrics(point);
    point.metrics["locks.dcache_lock.wait_mean_us"] = {7.75, "us", {}};
  }
  EXPECT_THAT(metrics_table(points, kPlain), Not(HasSubstr("7.750")));
  const auto lines = fitting_lines_of(metrics_table(points, kPlain));
  EXPECT_THAT(lines[0], MatchesRegex(" +throughput +locks +CPI +bus +mean latency"));
}

TEST(SweepTable, LeavesTheKernelsProfileOut) {
  auto points = locks_by_cpus();
  for (ReportedPoint& point : points) point.metrics["profile.d_lookup.time_pct"] = {60.5, "%", {}};
  EXPECT_THAT(metrics_table(points, kPlain), Not(HasSubstr("profile")));
}

TEST(SweepTable, OfManyLocksHasNone) {
  auto points = locks_by_cpus();
  for (const char* lock : {"a", "b", "c", "d"}) points[0].metrics[std::string("locks.") + lock + ".con_pct"] = {1.5, "%", {}};
  EXPECT_THAT(metrics_table(points, kPlain), Not(HasSubstr("locks")));
}

TEST(SweepTable, HasARowForEachPointAndBeginsWithTheSweptValues) {
  const auto lines = fitting_lines_of(metrics_table(locks_by_cpus(), kPlain));
  ASSERT_EQ(lines.size(), 4U + 6U + 1U);  // names above a rule, points, a note
  EXPECT_THAT(lines[4], MatchesRegex("  ticket +1 +1064000 .*"));
  EXPECT_THAT(lines[9], MatchesRegex("  ttas +4 +266000 .*"));
}

TEST(SweepTable, IsSortedByTheMetricThatTheExperimentNames) {
  const auto lines = fitting_lines_of(metrics_table(locks_by_cpus(), kPlain, "cpi.kernel"));
  EXPECT_THAT(lines[4], MatchesRegex("  ticket +4 .*"));
  EXPECT_THAT(lines[5], MatchesRegex("  ttas +4 .*"));
  EXPECT_THAT(lines[9], MatchesRegex("  ttas +1 .*"));
}

TEST(SweepTable, SaysThatItCannotBeSortedByWhatIsNotThere) {
  EXPECT_THAT(metrics_table(locks_by_cpus(), kPlain, "cpi.colonel"), HasSubstr("no point has the metric cpi.colonel"));
  EXPECT_THAT(metrics_table(locks_by_cpus(), kPlain, "cpi.kernel"), Not(HasSubstr("no point has")));
}

TEST(SweepTable, ShowsTheWorkloadsMetricsThenCpiThenTheBusThenMisses) {
  const auto lines = fitting_lines_of(metrics_table(locks_by_cpus(), kPlain));
  EXPECT_THAT(lines[0], MatchesRegex(" +throughput +CPI +bus +mean latency"));
  EXPECT_THAT(lines[1], MatchesRegex("  lock +cpus +operations +kernel +utilisation +local c2c"));
  EXPECT_THAT(lines[2], MatchesRegex(" +per s +% +ns"));
}

TEST(SweepTable, WhatAPointDidNotMeasureIsADash) {
  const auto lines = fitting_lines_of(metrics_table(locks_by_cpus(), kPlain));
  EXPECT_TRUE(lines[4].ends_with(" -")) << lines[4];
  EXPECT_TRUE(lines[5].ends_with(" 137.7")) << lines[5];
}

TEST(SweepTable, SaysWhereTheOtherMetricsAre) {
  const auto lines = fitting_lines_of(metrics_table(locks_by_cpus(), kPlain));
  EXPECT_EQ(lines.back(), "  4 of 6 metrics; results.json has them all");
}

TEST(SweepTable, AColumnHasTheDecimalsOfItsLargestFigure) {
  auto points = locks_by_cpus();
  points[1].metrics["cpi.kernel"].value = 223.44;
  const auto lines = fitting_lines_of(metrics_table(points, kPlain));
  EXPECT_THAT(lines[4], HasSubstr(" 1.2 "));
  EXPECT_THAT(lines[5], HasSubstr(" 223.4 "));
}

TEST(SweepTable, LongNamesAreBrokenIntoWordsAndWhatDoesNotFitIsLeftOut) {
  auto points = locks_by_cpus();
  for (ReportedPoint& point : points) {
    for (const char* from : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
      point.metrics[std::string("cost.cmpxchg_cache_transfer_and_invalidate_") + from] = {360.91, "ns", 0.26};
    }
  }
  const std::string table = metrics_table(points, kPlain);
  const auto lines = fitting_lines_of(table);
  EXPECT_THAT(line_with(table, "transfer"), MatchesRegex("( +transfer( and)?)+"));
  EXPECT_THAT(lines[lines.size() - 2], HasSubstr("360.9 ±0.3"));
  EXPECT_THAT(table, Not(HasSubstr("kernel")));
}

TEST(SweepTable, SweptPathsThatEndAlikeAreToldApart) {
  auto points = locks_by_cpus();
  for (ReportedPoint& point : points) {
    point.at = {{"machine.cache.L1D.size_kib", std::int64_t{16}}, {"machine.cache.L2.size_kib", std::int64_t{512}}};
  }
  EXPECT_THAT(metrics_table(points, kPlain), HasSubstr("  L1D.size_kib  L2.size_kib  "));
}

}  // namespace
}  // namespace linebounce::sim
