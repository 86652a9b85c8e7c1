#include "sim/terminal/line_table.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/sim/terminal/plain.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

LineRow row(const std::string& object, std::int64_t line, const std::string& field, const std::string& function,
            std::int64_t count, double remote_pct) {
  return {
      object.substr(0, object.find('[')), object, line, 0, field, function, "load", 1, "remote_c2c", count, remote_pct, 200};
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) width = std::max(width, width_of(line));
  return width;
}

std::string single_spaced(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || !out.ends_with(' ')) out += c;
  }
  return out;
}

LineSet two_lines() {
  std::vector<LineRow> rows = {row("rq[0]", 0, "lock", "schedule", 75, 20), row("rq[1]", 1, "idle", "idle_cpu", 25, 80)};
  rows[0].cpus = *read_cpu_list("0-3,8");
  rows[0].waits = MeanWaits{{0, 0, 120, 30, 0, 0}};
  return lines_of(rows, {});
}

TEST(LineTable, HasTheColumnsOfPerfC2cAndThenEachLineFieldByField) {
  const std::string table = line_table(two_lines(), 10, Painter(false, 200, 200));
  EXPECT_THAT(table, HasSubstr("local HITM remote HITM"));
  EXPECT_THAT(single_spaced(table), HasSubstr(" 1 rq[0] 0 75 5 75 0 0 75 1 15.0 75.0 75.0\n"));
  EXPECT_THAT(table, HasSubstr("   1  rq[0], line 0, home node 1, CPUs 0-3,8\n"));
  EXPECT_THAT(table, HasSubstr("A miss takes 200 ns: 50.0 ns travel, 150 ns queueing (line 120 ns, link 30.0 ns)."));
  EXPECT_THAT(table, HasSubstr("rq[1].idle"));
  EXPECT_THAT(table, Not(HasSubstr("of 2 lines")));
}

TEST(LineTable, EightyColumnsHaveWhatPerfC2cHasAndTheField) {
  const std::string table = line_table(two_lines(), 10, Painter(false, 80, 80));
  EXPECT_LE(widest(table), 80U);
  for (const char* word : {"object", "CPUs", "loads", "stores", "local HITM", "remote HITM", "latency µs", "rq[0].lock"})
    EXPECT_THAT(table, HasSubstr(word));
}

TEST(LineTable, SaysHowManyLinesItLeavesOut) {
  const LineSet set = lines_of({row("rq[0]", 0, "lock", "f", 75, 20), row("rq[1]", 0, "lock", "f", 25, 80)}, {});
  const std::string table = line_table(set, 1, kPlain);
  EXPECT_THAT(table, HasSubstr("1 of 2 lines"));
  EXPECT_THAT(table, Not(HasSubstr("rq[1]")));
}

TEST(LineTable, LongNamesAreBrokenToTheTerminalsWidth) {
  const std::string name(70, 'n');
  const LineSet set = lines_of({row(name + "[12]", 0, name, name, 75, 20)}, {});
  EXPECT_LE(widest(line_table(set, 1, kPlain)), 100U);
  EXPECT_LE(widest(line_table(set, 1, Painter(false, 130, 130))), 130U);
}

TEST(LineTable, IsAbsentWithoutMisses) {
  EXPECT_EQ(line_table(lines_of({}, {}), 10, kPlain), "");
}

TEST(SubsystemTable, HasTheLargestShareFirst) {
  const std::map<std::string, ReportedMetric> metrics = {{"subsystem.scheduler.latency_pct", {21.0, "%", {}}},
                                                         {"subsystem.scheduler.misses_pct", {30.0, "%", {}}},
                                                         {"subsystem.scsi.latency_pct", {40.0, "%", {}}},
                                                         {"subsystem.scsi.misses_pct", {20.0, "%", {}}}};
  const auto shares = subsystem_shares(metrics);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].name, "scsi");
  EXPECT_EQ(shares[1].misses_pct, 30);
  EXPECT_EQ(subsystem_table({}, kPlain), "");
}

}  // namespace
}  // namespace linebounce::sim
