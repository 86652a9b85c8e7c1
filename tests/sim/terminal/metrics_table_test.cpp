#include "sim/terminal/metrics_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "tests/sim/terminal/plain.hpp"
#include "workloads/workload_registry.hpp"

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

// Two locks on 1, 2 and 4 CPUs; a single CPU has no misses.
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

// Throughput, CPI, and a miss latency.
std::vector<HeadlineMetric> headlines() {
  return {{"throughput.operations_per_s", "operations", "1/s", Better::higher},
          {"cpi.kernel", "CPI", "", Better::lower},
          {"latency.local_c2c.mean_ns", "transfer", "ns", Better::lower}};
}

std::string sweep(const std::vector<ReportedPoint>& points, const MetricsView& view = {}) {
  return metrics_table(points, headlines(), kPlain, view);
}

void add_lock_metrics(ReportedPoint& point) {
  point.metrics["locks.dcache_lock.con_pct"] = {16.5, "%", {}};
  point.metrics["locks.idle_lock.con_pct"] = {0.0, "%", {}};
  point.metrics["locks.dcache_lock.total"] = {std::int64_t{15069563}, "", {}};
  point.metrics["locks.dcache_lock.d_lookup.con_pct"] = {17.2, "%", {}};
}

TEST(MetricsTable, APathWithOneValueHasNoColumn) {
  std::vector<ReportedPoint> points = locks_by_cpus();
  for (ReportedPoint& point : points) point.at.insert(point.at.begin() + 1, {"workload.counts", std::string("events")});
  EXPECT_THAT(sweep(points), Not(HasSubstr("events")));
  EXPECT_EQ(sweep(points), sweep(locks_by_cpus()));
}

TEST(MetricsTable, OfOnePointHasALineForEachHeadline) {
  ReportedPoint point = locks_by_cpus()[1];
  point.at.clear();
  point.metrics["cpi.kernel"].ci95 = 0.25;
  const auto lines = fitting_lines_of(sweep({point}));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0], MatchesRegex("  operations +532 k/s +throughput.operations_per_s"));
  EXPECT_THAT(lines[1], MatchesRegex("  CPI +2.50 ±0.25 +cpi.kernel"));
  EXPECT_THAT(lines[2], MatchesRegex("  transfer +138 ns +latency.local_c2c.mean_ns"));
  EXPECT_EQ(lines[3], "  3 more metrics: --all-metrics prints them; results.json has them");
}

TEST(MetricsTable, HasNoIntervalWhereAllSeedsAreTheSame) {
  ReportedPoint point = locks_by_cpus()[1];
  point.at.clear();
  point.metrics["cpi.kernel"].ci95 = 0;
  EXPECT_THAT(sweep({point}), Not(HasSubstr("±")));
}

TEST(MetricsTable, ShowsAllByGroupIfAsked) {
  ReportedPoint point = locks_by_cpus()[1];
  point.at.clear();
  add_lock_metrics(point);
  const std::string table = sweep({point}, {.all = true});
  fitting_lines_of(table);
  EXPECT_LT(table.find("\n  throughput\n"), table.find("\n  cpu\n"));
  EXPECT_LT(table.find("\n  cpu\n"), table.find("\n  traffic\n"));
  EXPECT_THAT(line_with(table, "bus.transactions"), MatchesRegex(" +bus.transactions +6111 *"));
  EXPECT_THAT(table, Not(HasSubstr("locks."))) << "they have a table of their own";
}

TEST(MetricsTable, OfSeveralPointsHasTheFiguresByWhichLocksAreCompared) {
  auto points = locks_by_cpus();
  for (ReportedPoint& point : points) add_lock_metrics(point);
  const std::string table = sweep(points, {.all = true});
  fitting_lines_of(table);
  EXPECT_THAT(table, HasSubstr("point 5"));
  EXPECT_THAT(table, HasSubstr("locks.dcache_lock.con_pct"));
  EXPECT_THAT(table, Not(HasSubstr("idle_lock"))) << "nobody waited for it";
  EXPECT_THAT(table, Not(HasSubstr("total")));
  EXPECT_THAT(table, Not(HasSubstr("d_lookup")));
}

TEST(SweepTable, HasARowForEachPointAndBeginsWithTheSweptValues) {
  const auto lines = fitting_lines_of(sweep(locks_by_cpus()));
  ASSERT_EQ(lines.size(), 2U + 6U + 1U + 3U + 1U);  // title lines above a rule, points, an empty line, full names, a note
  EXPECT_THAT(lines[0], MatchesRegex("  lock +cpus +M operations/s +CPI +transfer ns"));
  EXPECT_THAT(lines[2], MatchesRegex("  ticket +1 +1.06 .*"));
  EXPECT_THAT(lines[7], MatchesRegex("  ttas +4 +0.27 .*"));
  EXPECT_THAT(lines[9], MatchesRegex("  M operations/s +throughput.operations_per_s"));
  EXPECT_EQ(lines.back(), "  3 more metrics: --all-metrics prints them; results.json has them");
}

TEST(SweepTable, IsSortedByTheMetricThatTheExperimentNamesWhichComesFirst) {
  const auto lines = fitting_lines_of(sweep(locks_by_cpus(), {.sorted_by = "bus.utilisation_pct"}));
  EXPECT_THAT(lines[0], MatchesRegex("  lock +cpus +utilisation % +M operations/s +CPI.*"));
  const auto by_cpi = fitting_lines_of(sweep(locks_by_cpus(), {.sorted_by = "cpi.kernel"}));
  EXPECT_THAT(by_cpi[0], MatchesRegex("  lock +cpus +CPI +M operations/s +transfer ns"));
  EXPECT_THAT(by_cpi[2], MatchesRegex("  ticket +4 .*"));
  EXPECT_THAT(by_cpi[3], MatchesRegex("  ttas +4 .*"));
  EXPECT_THAT(by_cpi[7], MatchesRegex("  ttas +1 .*"));
}

TEST(SweepTable, RefusesToSortByAMissingColumn) {
  EXPECT_THAT(sweep(locks_by_cpus(), {.sorted_by = "cpi.colonel"}), HasSubstr("no point has the metric cpi.colonel"));
  EXPECT_THAT(sweep(locks_by_cpus(), {.sorted_by = "cpi.kernel"}), Not(HasSubstr("no point has")));
}

TEST(SweepTable, ShowsADashForAMetricThatAPointLacks) {
  const auto lines = fitting_lines_of(sweep(locks_by_cpus()));
  EXPECT_TRUE(lines[2].ends_with(" -")) << lines[2];
  EXPECT_TRUE(lines[3].ends_with(" 138")) << lines[3];
}

TEST(SweepTable, APointThatFailedSaysSo) {
  auto points = locks_by_cpus();
  points[1].metrics.clear();
  points[1].failed = true;
  points[2].metrics.clear();
  const auto lines = fitting_lines_of(sweep(points));
  EXPECT_THAT(lines[3], MatchesRegex("  ticket +2 +FAILED +- +-"));
  EXPECT_THAT(lines[4], MatchesRegex("  ticket +4 +not run +- +-"));
}

TEST(SweepTable, AColumnHasTheDecimalsOfItsLargestFigureAndTwoDigitsOfTheRest) {
  auto points = locks_by_cpus();
  points[1].metrics["cpi.kernel"].value = 223.44;
  const auto lines = fitting_lines_of(sweep(points));
  EXPECT_THAT(lines[2], HasSubstr(" 1.25 "));
  EXPECT_THAT(lines[3], HasSubstr(" 223 "));
}

TEST(SweepTable, OfMetricsWithoutRoomTheLastAreLeftOut) {
  auto points = locks_by_cpus();
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i].at[0].second = fmt::format("a_lock_with_a_long_nam{}", i < 3 ? 1 : 2);
  const Painter narrow(false, kNarrowestTerminal, kNarrowestTerminal);
  std::vector<HeadlineMetric> metrics = headlines();
  metrics[1].label = "cycles an instruction";
  const std::string table = metrics_table(points, metrics, narrow);
  for (const std::string& line : fitting_lines_of(table)) EXPECT_LE(width_of(line), kNarrowestTerminal) << line;
  EXPECT_THAT(table, HasSubstr("instruction"));
  EXPECT_THAT(table, Not(HasSubstr("transfer")));
}

TEST(SweepTable, SweptPathsThatEndAlikeAreToldApart) {
  auto points = locks_by_cpus();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto more = static_cast<std::int64_t>(i);
    points[i].at = {{"machine.cache.L1D.size_kib", 16 + more}, {"machine.cache.L2.size_kib", 512 + more}};
  }
  EXPECT_THAT(sweep(points), HasSubstr("  L1D.size_kib  L2.size_kib  "));
}

// ---- the choice of metrics ----

TEST(Headlines, AreThoseOfTheWorkloadThenThoseThatAreDeclared) {
  const auto chosen = headlines_of("critical_section", locks_by_cpus());
  ASSERT_EQ(chosen.size(), 3U);
  EXPECT_EQ(chosen[0].name, "throughput.operations_per_s");
  EXPECT_EQ(chosen[1].name, "bus.utilisation_pct") << "the workload's own others are not there";
  EXPECT_EQ(chosen[2].name, "latency.local_c2c.mean_ns");
  EXPECT_EQ(chosen[2].better, Better::lower);
}

TEST(Headlines, LeaveOutWhatFewPointsHave) {
  auto points = locks_by_cpus();
  points[0].metrics["fairness.least_share_pct"] = {50.0, "%", {}};
  for (const HeadlineMetric& metric : headlines_of("critical_section", points)) {
    EXPECT_NE(metric.name, "fairness.least_share_pct");
  }
}

// If no workload measured a headline any more, another metric would silently take its place.
TEST(Headlines, OfEveryWorkloadAreDeclaredMetrics) {
  for (const workloads::WorkloadEntry& entry : workloads::all_workloads()) {
    EXPECT_LE(entry.headlines.size(), kMostHeadlines) << entry.name;
    for (const workloads::Headline& headline : entry.headlines)
      EXPECT_NE(find_metric(headline.metric), nullptr) << headline.metric;
  }
}

}  // namespace
}  // namespace linebounce::sim
