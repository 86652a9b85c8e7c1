#include "sim/lines/line_rows.hpp"

#include <gmock/gmock.h>

namespace linebounce::sim {
namespace {

// A row of structure rq: object, line, offset, field, function, access, home, source, count, remote %, mean latency.
LineRow rq(const std::string& object, std::int64_t line, std::int64_t offset, const std::string& field,
           const std::string& function, const std::string& access, const std::string& source, std::int64_t count,
           double remote_pct, double latency_ns_mean) {
  return {"rq", object, line, offset, field, function, access, 1, source, count, remote_pct, latency_ns_mean};
}

TEST(Lines, AnObjectsRowsInOneLineAreAddedUpAndTheOneWithMostLatencyComesFirst) {
  const LineSet set = lines_of({rq("rq[0]", 0, 80, "lock", "schedule", "atomic", "local_c2c", 30, 0, 100),
                                rq("rq[0]", 0, 80, "lock", "schedule", "atomic", "remote_c2c", 10, 100, 300),
                                rq("rq[0]", 0, 88, "nr_running", "schedule", "load", "local_memory", 10, 0, 200),
                                rq("rq[0]", 1, 32, "curr", "idle_cpu", "load", "remote_c2c", 40, 50, 500)},
                               {});
  ASSERT_EQ(set.lines.size(), 2U);
  EXPECT_EQ(set.lines[0].number, 1);  // 40 x 500 ns
  const Line& line = set.lines[1];
  EXPECT_EQ(line.object, "rq[0]");
  EXPECT_EQ(line.number, 0);
  EXPECT_EQ(line.home, 1);
  EXPECT_EQ(line.misses.count, 50);
  EXPECT_DOUBLE_EQ(line.misses.remote_pct(), 20);  // 10 of 50
  EXPECT_DOUBLE_EQ(line.misses.latency_ns, 30 * 100 + 10 * 300 + 10 * 200);
  EXPECT_EQ(set.all.count, 90);
}

TEST(Lines, AUseIsAFieldInAFunctionByAnAccessWhoeverSuppliedIt) {
  const LineSet set = lines_of({rq("rq[0]", 0, 88, "nr_running", "schedule", "load", "local_c2c", 7, 0, 100),
                                rq("rq[0]", 0, 80, "lock", "schedule", "atomic", "local_c2c", 30, 0, 100),
                                rq("rq[0]", 0, 80, "lock", "schedule", "atomic", "remote_c2c", 10, 100, 300),
                                rq("rq[0]", 0, 80, "lock", "schedule", "load", "local_c2c", 50, 0, 100)},
                               {});
  const auto& uses = set.lines.at(0).uses;
  ASSERT_EQ(uses.size(), 3U);  // sorted by offset, then by frequency
  EXPECT_EQ(uses[0].access, "load");
  EXPECT_EQ(uses[0].misses.count, 50);
  EXPECT_EQ(uses[1].access, "atomic");
  EXPECT_EQ(uses[1].misses.count, 40);
  EXPECT_DOUBLE_EQ(uses[1].misses.remote_pct(), 25);
  EXPECT_DOUBLE_EQ(uses[1].misses.latency_ns_mean(), 150);
  EXPECT_EQ(uses[2].field, "nr_running");
}

TEST(Lines, AsSampledLeavesLoadsAndAtomicsFromCaches) {
  const std::vector<LineRow> rows = {rq("rq[0]", 0, 80, "lock", "f", "load", "local_c2c", 1, 0, 100),
                                     rq("rq[0]", 0, 80, "lock", "f", "atomic", "remote_c2c", 2, 100, 100),
                                     rq("rq[0]", 0, 80, "lock", "f", "store", "remote_c2c", 4, 100, 100),
                                     rq("rq[0]", 0, 80, "lock", "f", "atomic", "upgrade", 8, 0, 100),
                                     rq("rq[0]", 0, 80, "lock", "f", "load", "local_memory", 16, 0, 100),
                                     rq("rq[0]", 0, 80, "lock", "f", "load", "remote_memory", 32, 0, 100),
                                     rq("rq[0]", 0, 80, "lock", "f", "load", "node_cache", 64, 0, 100)};
  EXPECT_EQ(lines_of(rows, {.as_sampled = true}).all.count, 3);
  EXPECT_EQ(lines_of(rows, {}).all.count, 127);
}

TEST(Lines, SumAddsUpAllObjectsOfAStructureLineByLine) {
  std::vector<LineRow> rows = {rq("rq[0]", 0, 80, "lock", "f", "load", "local_c2c", 1, 0, 100),
                               rq("rq[1]", 0, 80, "lock", "f", "load", "local_c2c", 3, 100, 100),
                               rq("rq[1]", 1, 32, "curr", "f", "load", "local_c2c", 5, 0, 10)};
  rows[1].home = 0;
  EXPECT_EQ(lines_of(rows, {}).lines.size(), 3U);
  const LineSet set = lines_of(rows, {.sum = true});
  ASSERT_EQ(set.lines.size(), 2U);
  EXPECT_EQ(set.lines[0].object, "");
  EXPECT_EQ(set.lines[0].home, std::nullopt);  // rq[0] and rq[1] have different homes
  EXPECT_EQ(set.lines[0].misses.count, 4);
  ASSERT_EQ(set.lines[0].uses.size(), 1U);
  EXPECT_DOUBLE_EQ(set.lines[0].uses[0].misses.remote_pct(), 75);
  EXPECT_EQ(set.lines[1].home, 1);
}

TEST(Lines, AnArrayIsNotALineButCountsInTheWhole) {
  const LineSet set = lines_of({rq("rq[0]", 0, 80, "lock", "f", "load", "local_c2c", 1, 0, 100),
                                {"heap", "heap", 0, 0, "[]", "f", "load", 0, "local_c2c", 9, 0, 100}},
                               {});
  EXPECT_EQ(set.lines.size(), 1U);
  EXPECT_EQ(set.arrays.count, 9);
  EXPECT_EQ(set.all.count, 10);
}

}  // namespace
}  // namespace linebounce::sim
