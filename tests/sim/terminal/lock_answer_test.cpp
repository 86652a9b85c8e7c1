#include <gtest/gtest.h>

#include <optional>

#include "sim/terminal/lock_table.hpp"

namespace linebounce::sim {
namespace {

ReportedPoint result_of(const std::string& lock, std::int64_t cpus, double per_s, std::optional<double> interval = 1000) {
  ReportedPoint point;
  point.at = {{"workload.lock", lock}, {"machine.cpus", cpus}};
  point.metrics["throughput.operations_per_s"] = {per_s, "1/s", interval};
  return point;
}

TEST(LockAnswer, NamesTheLockThatDoesMostWithTheMostCpus) {
  EXPECT_EQ(lock_answer({result_of("ticket", 1, 900000), result_of("ticket", 4, 200000), result_of("mcs", 1, 800000),
                         result_of("mcs", 4, 250000), result_of("tas", 4, 100000), result_of("none", 4, 990000)}),
            "At 4 CPUs mcs does most: 250000 ±1000 operations/s, 25 % more than ticket, the next.");
}

TEST(LockAnswer, SaysWhichLocksCannotBeToldApart) {
  EXPECT_EQ(lock_answer({result_of("ticket", 4, 249000), result_of("mcs", 4, 250000), result_of("tas", 4, 100000),
                         result_of("ttas", 4, 230000, 40000)}),
            "At 4 CPUs mcs does most, 250000 ±1000 operations/s, but can't be told apart from ticket, ttas: the intervals "
            "overlap.");
}

TEST(LockAnswer, OfOneSeedHasNoIntervalAndSaysSo) {
  EXPECT_EQ(
      lock_answer({result_of("ticket", 4, 200000, {}), result_of("mcs", 4, 250000, {})}),
      "At 4 CPUs mcs does most: 250000 operations/s, 25 % more than ticket, the next (one seed, so without an interval).");
}

TEST(LockAnswer, WarnsWhereTheFirstStarvesSomeCpus) {
  std::vector<ReportedPoint> points = {result_of("ticket", 4, 200000), result_of("tas", 4, 250000)};
  points[1].metrics["fairness.starved_cpus"] = {std::int64_t{3}, "", {}};
  EXPECT_TRUE(lock_answer(points).ends_with("the next; but not all of its CPUs get their share, see below."));
}

TEST(LockAnswer, IsLeftOutWhereAResultIsMissingOrTheSweepIsAnother) {
  std::vector<ReportedPoint> points = {result_of("ticket", 4, 200000), result_of("mcs", 4, 250000)};
  points[0].metrics.clear();
  EXPECT_EQ(lock_answer(points), "");
  points = {result_of("ticket", 4, 200000), result_of("mcs", 4, 250000)};
  for (ReportedPoint& point : points) point.at[0].first = "workload.counter";
  EXPECT_EQ(lock_answer(points), "");
  EXPECT_EQ(lock_answer({result_of("ticket", 4, 200000)}), "");
}

}  // namespace
}  // namespace linebounce::sim
