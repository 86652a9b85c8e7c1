#include "sim/results/merge_seeds.hpp"

#include <gmock/gmock.h>

namespace linebounce::sim {
namespace {

PointData with_metric(double value) {
  PointData data;
  data.metrics["cost.x"] = {value, "ns"};
  return data;
}

TEST(MergeSeeds, OneRunKeepsItsIntegersAndHasNoInterval) {
  PointData data;
  data.metrics["latency.l2.count"] = {std::int64_t{7}, ""};
  const MergedPoint merged = merge_seeds({data});
  EXPECT_EQ(std::get<std::int64_t>(merged.metrics.at("latency.l2.count").value), 7);
  EXPECT_FALSE(merged.metrics.at("latency.l2.count").ci95);
}

// 10, 12, 14: mean 12, standard deviation 2, t(0.975, 2) = 4.303, so 4.303 * 2 / sqrt(3) = 4.96867.
TEST(MergeSeeds, SeveralRunsGiveMeanAndStudentsInterval) {
  const MergedPoint merged = merge_seeds({with_metric(10), with_metric(12), with_metric(14)});
  const ReportedMetric& metric = merged.metrics.at("cost.x");
  EXPECT_DOUBLE_EQ(as_double(metric.value), 12);
  ASSERT_TRUE(metric.ci95);
  EXPECT_NEAR(*metric.ci95, 4.96867, 1e-4);
  EXPECT_EQ(metric.unit, "ns");
}

TEST(MergeSeeds, CountsOfSeveralRunsBecomeMeans) {
  PointData first;
  first.metrics["n"] = {std::int64_t{1}, ""};
  PointData second;
  second.metrics["n"] = {std::int64_t{2}, ""};
  EXPECT_DOUBLE_EQ(std::get<double>(merge_seeds({first, second}).metrics.at("n").value), 1.5);
}

TEST(MergeSeeds, AMetricThatOneRunLacksIsTheMeanOfTheOthers) {
  const MergedPoint merged = merge_seeds({with_metric(10), PointData{}, with_metric(20)});
  EXPECT_DOUBLE_EQ(as_double(merged.metrics.at("cost.x").value), 15);
}

TEST(MergeSeeds, SeriesAreThoseOfTheFirstRun) {
  PointData first;
  first.series = {{0, "rcu.pending", 1}, {4000, "rcu.pending", 5}};
  PointData second;
  second.series = {{0, "rcu.pending", 3}};
  const auto rows = merge_seeds({first, second}).tables.series;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].value, 5);
}

TEST(MergeSeeds, HistogramsAreAddedUpAndStaySorted) {
  PointData first;
  first.latency = {{"kernel", "l2", 9, 12.8571, 5}};
  PointData second;
  second.latency = {{"kernel", "l2", 8, 11.4286, 1}, {"kernel", "l2", 9, 12.8571, 2}};
  const auto rows = merge_seeds({first, second}).tables.latency;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].latency_cycles, 8);
  EXPECT_EQ(rows[1].count, 7);
}

// 1 miss of 100 ns, remote, and 3 of 200 ns, local: the mean is over misses, not over runs.
TEST(MergeSeeds, MeansOfLinesAreWeightedByTheirMisses) {
  LineRow row{"rq", "rq[0]", 0, 0, "lock", "schedule", "atomic", 0, "local_c2c", 1, 100, 100};
  PointData first;
  first.lines = {row};
  row.count = 3;
  row.remote_pct = 0;
  row.latency_ns_mean = 200;
  PointData second;
  second.lines = {row};
  const auto rows = merge_seeds({first, second}).tables.lines;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].count, 4);
  EXPECT_DOUBLE_EQ(rows[0].remote_pct, 25);
  EXPECT_DOUBLE_EQ(rows[0].latency_ns_mean, 175);
}

TEST(MergeSeeds, LinesThatOnlySomeRunsMissedStaySorted) {
  const LineRow a{"rq", "rq[0]", 0, 0, "lock", "schedule", "atomic", 0, "local_c2c", 1, 100, 100};
  LineRow b = a;
  b.object = "rq[1]";
  LineRow c = a;
  c.object = "rq[2]";
  PointData first;
  first.lines = {b};
  PointData second;
  second.lines = {a, b, c};
  const auto rows = merge_seeds({first, second, PointData{}}).tables.lines;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].object, "rq[0]");
  EXPECT_EQ(rows[1].object, "rq[1]");
  EXPECT_EQ(rows[1].count, 2);
  EXPECT_EQ(rows[2].object, "rq[2]");
}

TEST(MergeSeeds, LocksAddCountsKeepTheLongestAndAverageShares) {
  PointData first;
  first.locks = {{"dcache_lock", "", 10, 50, 2, 5, 4, 9, 1, 2, 1, 1, 0}};
  PointData second;
  second.locks = {{"dcache_lock", "", 30, 0, 4, 3, 0, 0, 3, 6, 6, 0, 0}};
  const auto rows = merge_seeds({first, second, PointData{}}).tables.locks;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].total, 8);
  EXPECT_NEAR(rows[0].util_pct, 40.0 / 3, 1e-9);  // 10, 30, and a lock that was never taken
  EXPECT_DOUBLE_EQ(rows[0].con_pct, 12.5);        // 1 of 8
  EXPECT_DOUBLE_EQ(rows[0].hold_mean_us, 3.5);
  EXPECT_DOUBLE_EQ(rows[0].wait_mean_us, 4);
  EXPECT_DOUBLE_EQ(rows[0].hold_max_us, 5);
}

MergedPoint merged_rates(const std::vector<double>& rates) {
  std::vector<PointData> runs;
  for (const double rate : rates) {
    runs.emplace_back();
    runs.back().metrics["throughput.operations_per_s"] = {rate, "1/s"};
  }
  return merge_seeds(std::move(runs));
}

TEST(MergeSeeds, CyclesOfACpuInAFunctionAreAddedUp) {
  const auto run = [](std::int64_t cpu, const std::string& function, std::int64_t spins) {
    CpiRow row{.cpu = cpu, .function = function, .instructions = 10};
    row.parts[ordinal(TimePart::spin)] = spins;
    PointData data;
    data.cpi = {row};
    return data;
  };
  const auto rows = merge_seeds({run(1, "lock", 5), run(0, "lock", 7), run(1, "lock", 20)}).tables.cpi;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cycles(), 7);
  EXPECT_EQ(rows[1].cpu, 1);
  EXPECT_EQ(rows[1].instructions, 20);
  EXPECT_EQ(rows[1].parts[ordinal(TimePart::spin)], 25);
}

TEST(MergeSeeds, SeedsInTwoModesHaveAMeanForEach) {
  const auto metrics = merged_rates({900, 400, 910, 410, 905}).metrics;
  EXPECT_DOUBLE_EQ(as_double(metrics.at("throughput.lower_mode").value), 405);
  EXPECT_DOUBLE_EQ(as_double(metrics.at("throughput.upper_mode").value), 905);
  EXPECT_EQ(as_double(metrics.at("throughput.lower_mode_seeds").value), 2);
}

TEST(MergeSeeds, SeedsThatScatterHaveNoModes) {
  EXPECT_EQ(merged_rates({100, 150, 210, 260, 300}).metrics.count("throughput.lower_mode"), 0U) << "no gap wider than the rest";
  EXPECT_EQ(merged_rates({900, 901, 902, 930}).metrics.count("throughput.lower_mode"), 0U) << "a gap of 3 %";
  EXPECT_EQ(merged_rates({400, 900}).metrics.count("throughput.lower_mode"), 0U) << "two seeds are not groups";
}

TEST(MergeSeeds, TransitionsKeepTheTablesOrderWhateverEachRunSaw) {
  PointData first;
  first.transitions = {{"cache", "I", "Load", 1}, {"cache", "M", "Evict", 1}};
  PointData second;
  second.transitions = {{"cache", "I", "Load", 1}, {"cache", "S", "Store", 4}, {"cache", "M", "Evict", 2}};
  const auto rows = merge_seeds({first, second}).tables.transitions;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[1].state, "S");
  EXPECT_EQ(rows[2].count, 3);
}

TEST(StudentT, IsTheTablesValueAndNeverTooSmallBetweenEntries) {
  EXPECT_DOUBLE_EQ(student_t_95(1), 12.706);
  EXPECT_DOUBLE_EQ(student_t_95(4), 2.776);
  EXPECT_DOUBLE_EQ(student_t_95(30), 2.042);
  EXPECT_DOUBLE_EQ(student_t_95(39), 2.042);
  EXPECT_DOUBLE_EQ(student_t_95(1000), 1.984);
}

}  // namespace
}  // namespace linebounce::sim
