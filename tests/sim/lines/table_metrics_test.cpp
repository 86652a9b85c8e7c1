#include "sim/lines/table_metrics.hpp"

#include <gmock/gmock.h>

#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

constexpr LineNumber kHot = 7;
constexpr LineNumber kCold = 3;

PlacedRow on(LineNumber line, const std::string& structure, const std::string& field, const std::string& function,
             const std::string& access, std::int64_t count, double remote_pct, const std::string& source = "remote_c2c") {
  return {line, {structure, structure + "[0]", 0, 0, field, function, access, 0, source, count, remote_pct, 100}};
}

MeasuredRow measured(const std::string& key, const std::string& structure, const std::string& function,
                     const std::string& field, const std::string& access, std::int64_t samples, double remote_pct) {
  return {key, structure, function, field, access, 0, samples, remote_pct};
}

MeasuredTable table() {
  MeasuredTable out;
  out.id = "fig12";
  out.structure = "tag";
  out.field = "max_depth";
  out.min_samples = 50;
  out.tolerance_abs = 10;
  out.rows = {measured("start.max_depth", "tag", "start", "max_depth", "load", 128, 55),
              measured("find.bitmap_map", "bitmap", "find", "map", "load", 60, 50),
              measured("end.bitmap_map", "bitmap", "end", "map", "load", 96, 12.5),
              measured("start.bitmap_map", "bitmap", "start", "map", "atomic", 16, 50),
              measured("end.max_depth", "tag", "end", "max_depth", "load", 3, 0)};
  return out;
}

double value(const PointData& point, const std::string& name) {
  return as_double(point.metrics.at(name).value);
}

class TableMetrics : public ::testing::Test {
 protected:
  PointData with(const std::vector<PlacedRow>& rows) {
    PointData point;
    add_table_metrics({{&table_, {kCold, kHot}}}, rows, point);
    return point;
  }
  MeasuredTable table_ = table();
};

// Measured shares: 55, 50 and 12.5. The best guess of one value for all is their median, 50. Its mean error is (5 + 0 + 37.5)
// / 3.
TEST_F(TableMetrics, SharesAreHeldAgainstOneGuessForTheFigure) {
  const PointData point =
      with({on(kHot, "tag", "max_depth", "start", "load", 100, 51), on(kHot, "bitmap", "map", "find", "load", 100, 46),
            on(kHot, "bitmap", "map", "end", "load", 100, 16.5)});
  EXPECT_NEAR(value(point, "tables.remote_error_points"), 4, 1e-4);
  EXPECT_NEAR(value(point, "tables.guess_error_points"), 42.5 / 3, 1e-4);
  EXPECT_EQ(value(point, "tables.better_than_guess"), 1);
}

TEST_F(TableMetrics, TheHottestLineIsTheOneWithMostLatencyAsSampled) {
  const std::vector<PlacedRow> rows = {
      on(kCold, "tag", "max_depth", "start", "load", 10, 0), on(kCold, "tag", "max_depth", "start", "store", 500, 0),
      on(kCold, "tag", "max_depth", "start", "load", 500, 0, "upgrade"), on(kHot, "tag", "max_depth", "start", "load", 11, 0),
      on(99, "tag", "max_depth", "start", "load", 1000, 0)};
  EXPECT_EQ(hottest_line({kCold, kHot}, rows), kHot);
  EXPECT_EQ(hottest_line({kHot, kCold}, {}), kCold) << "of equals the first in memory";
}

TEST_F(TableMetrics, ARowCountsWhatItsFunctionFieldAndAccessHaveOnThatLine) {
  const PointData point =
      with({on(kHot, "tag", "max_depth", "start", "load", 30, 60),
            on(kHot, "tag", "max_depth", "start", "load", 10, 20, "local_c2c"),
            on(kHot, "tag", "max_depth", "start", "store", 99, 0),
            on(kHot, "tag", "max_depth", "start", "load", 99, 0, "local_memory"),
            on(kHot, "tag", "max_depth", "elsewhere", "load", 5, 0), on(kCold, "tag", "max_depth", "start", "load", 20, 0)});
  EXPECT_EQ(value(point, "table.fig12.start.max_depth.samples"), 40);
  EXPECT_DOUBLE_EQ(value(point, "table.fig12.start.max_depth.remote_pct"), 50);
  EXPECT_EQ(value(point, "table.fig12.samples"), 45) << "all of the line";
}

// Object bitmap lies on the same line as the measured structure.
TEST_F(TableMetrics, NeighboursOnTheLineHaveTheirRowsInTheTable) {
  const PointData point =
      with({on(kHot, "tag", "max_depth", "start", "load", 40, 55), on(kHot, "bitmap", "map", "end", "load", 20, 35),
            on(kHot, "bitmap", "map", "start", "atomic", 4, 50), on(kCold, "bitmap", "map", "find", "load", 8, 50)});
  EXPECT_EQ(value(point, "table.fig12.end.bitmap_map.samples"), 20);
  EXPECT_DOUBLE_EQ(value(point, "table.fig12.end.bitmap_map.remote_pct"), 35);
  EXPECT_EQ(value(point, "table.fig12.start.bitmap_map.samples"), 4);
  EXPECT_EQ(value(point, "table.fig12.find.bitmap_map.samples"), 0) << "on another line";
}

TEST_F(TableMetrics, AFieldThatWasMovedOutOfItsObjectIsStillItsStructures) {
  const PointData point = with({on(kHot, "tag.read_mostly", "max_depth", "start", "load", 40, 55)});
  EXPECT_EQ(value(point, "table.fig12.start.max_depth.samples"), 40);
}

TEST_F(TableMetrics, ARowWithoutSamplesHasNoRemoteShareAndIsNoHit) {
  const PointData point = with({on(kHot, "tag", "max_depth", "start", "load", 40, 55)});
  EXPECT_EQ(value(point, "table.fig12.find.bitmap_map.samples"), 0);
  EXPECT_FALSE(point.metrics.contains("table.fig12.find.bitmap_map.remote_pct"));
  EXPECT_EQ(value(point, "tables.rows"), 3) << "those with 50 samples";
  EXPECT_EQ(value(point, "tables.rows_within_10_points"), 1);
}

TEST_F(TableMetrics, WithinTenPointsHasItsEnds) {
  const PointData point =
      with({on(kHot, "tag", "max_depth", "start", "load", 40, 65), on(kHot, "bitmap", "map", "find", "load", 40, 40),
            on(kHot, "bitmap", "map", "end", "load", 40, 22.6)});
  EXPECT_EQ(value(point, "tables.rows_within_10_points"), 2);
}

// Rows with at least 10 samples: measured 128, 60, 96, 16; simulated 40, 0, 20, 30. Ranks 4 2 3 1 and 4 1 2 3: the squared
// differences add up to 6; 1 - 6 x 6 / (4 x 15) = 0.4.
TEST_F(TableMetrics, TheOrderOfSamplesCountsRowsThatWereNeverSampled) {
  const PointData point =
      with({on(kHot, "tag", "max_depth", "start", "load", 40, 55), on(kHot, "bitmap", "map", "end", "load", 20, 35),
            on(kHot, "bitmap", "map", "start", "atomic", 30, 50), on(kHot, "tag", "max_depth", "end", "load", 1000, 50)});
  EXPECT_DOUBLE_EQ(value(point, "table.fig12.rank_correlation"), 0.4);
  EXPECT_DOUBLE_EQ(value(point, "tables.rank_correlation_median"), 0.4);
}

TEST_F(TableMetrics, ATableWithoutALineCountsForNothing) {
  PointData point;
  add_table_metrics({{&table_, {}}}, {on(kHot, "tag", "max_depth", "start", "load", 40, 55)}, point);
  EXPECT_EQ(value(point, "tables.rows"), 0);
  EXPECT_FALSE(point.metrics.contains("table.fig12.samples"));
  EXPECT_FALSE(point.metrics.contains("tables.rank_correlation_median"));
}

TEST_F(TableMetrics, AreAbsentWithoutTables) {
  PointData point;
  add_table_metrics({}, {on(kHot, "tag", "max_depth", "start", "load", 40, 55)}, point);
  EXPECT_TRUE(point.metrics.empty());
}

}  // namespace
}  // namespace linebounce::sim
