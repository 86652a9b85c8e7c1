#include "sim/terminal/lock_table.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/sim/terminal/plain.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

const Painter kUnbroken(false, 1000);

// The 8-CPU baseline of OLS 2002, section 2.2, with three of its call sites, and a lock that nobody waited for.
std::vector<LockRow> dbench() {
  return {
      {"dcache_lock", "", 5.3, 16.5, 0.6, 2787, 5.0, 3094, 0.89, 15069563, 12583085, 2486478, 0},
      {"dcache_lock", "d_alloc", 0.01, 10.9, 0.2, 7.5, 5.3, 116, 0.001, 119448, 106428, 13020, 0},
      {"dcache_lock", "d_delete", 0.04, 14.2, 0.3, 42, 6.3, 925, 0.02, 233290, 200163, 33127, 0},
      {"dcache_lock", "prune_dcache_of_one_super_block", 0.04, 9.4, 12, 11832, 31.4, 148, 0.001, 76974, 69738, 7236, 500},
      {"i_sem", "", 100, 0, 1.04, 2, 0, 0, 0, 12, 12, 0, 0},
      {"i_sem", "dcache_readdir", 100, 0, 1.04, 2, 0, 0, 0, 12, 12, 0, 0},
  };
}

LockRow taken(const std::string& lock, const std::string& call_site, std::int64_t total) {
  LockRow row;
  row.lock = lock;
  row.call_site = call_site;
  row.total = row.nowait = total;
  return row;
}

TEST(LockTable, ReadsAsLockmeterPrints) {
  EXPECT_EQ(lock_table(dbench(), kPlain),
            "LOCKS             HOLD              WAIT\n"
            "  UTIL   CON   MEAN( MAX  )   MEAN( MAX  )(% CPU)    TOTAL NOWAIT  SPIN  RJCT  NAME\n"
            "  5.3% 16.5%  0.6µs(2787µs)  5.0µs(3094µs)(0.89%) 15069563  83.5% 16.5%    0%  dcache_lock\n"
            " 0.01% 10.9%  0.2µs( 7.5µs)  5.3µs( 116µs)(0.00%)   119448  89.1% 10.9%    0%    d_alloc\n"
            " 0.04% 14.2%  0.3µs(  42µs)  6.3µs( 925µs)(0.02%)   233290  85.8% 14.2%    0%    d_delete\n"
            " 0.04%  9.4%   12µs(  12ms)   31µs( 148µs)(0.00%)    76974  90.6%  9.4% 0.65%    prune_dca…per_block\n"
            "  100%    0%  1.0µs( 2.0µs)    0µs                      12   100%    0%    0%  i_sem\n"
            "  100%    0%  1.0µs( 2.0µs)    0µs                      12   100%    0%    0%    dcache_readdir\n");
}

TEST(LockTable, FitsTheTerminal) {
  std::istringstream text(lock_table(dbench(), kPlain));
  for (std::string line; std::getline(text, line);) EXPECT_LE(width_of(line), kTerminalWidth) << line;
}

TEST(LockTable, WithoutLocksIsEmpty) {
  EXPECT_EQ(lock_table({}, kPlain), "");
}

TEST(LockTable, OmitsLocksThatWereNeverTaken) {
  EXPECT_EQ(lock_table({taken("idle", "", 0)}, kPlain), "");
  auto rows = dbench();
  rows.push_back(taken("idle", "", 0));
  EXPECT_THAT(lock_table(rows, kPlain), Not(HasSubstr("idle")));
}

// 60 locks of two rows each. CPUs waited for those with even numbers, and most for lock 30.
TEST(LockTable, OfManyLocksThoseThatWereWaitedForMostAreShownByName) {
  std::vector<LockRow> rows;
  for (int i = 10; i < 70; ++i) {
    const std::string name = "lock_" + std::to_string(i);
    LockRow row = taken(name, "", 100);
    row.cpu_pct = i % 2 == 0 ? 1 : 0;
    if (i == 30) row.cpu_pct = 5;
    rows.push_back(row);
    row.call_site = "taker";
    rows.push_back(row);
  }
  const std::string table = lock_table(rows, kPlain);
  EXPECT_THAT(table, HasSubstr("lock_10\n"));
  EXPECT_THAT(table, HasSubstr("lock_30\n"));
  EXPECT_THAT(table, Not(HasSubstr("lock_11\n")));
  EXPECT_LT(table.find("lock_10\n"), table.find("lock_30\n"));
  EXPECT_THAT(table, HasSubstr("20 of 60 locks, those that were waited for most; locks.csv has them all\n"));
}

TEST(LockTable, OneLockIsShownWholeHoweverManyCallSitesItHas) {
  std::vector<LockRow> rows = {taken("busy", "", 100)};
  for (int i = 0; i < 100; ++i) rows.push_back(taken("busy", "site_" + std::to_string(i), 1));
  EXPECT_THAT(lock_table(rows, kPlain), HasSubstr("site_99\n"));
}

ReportedPoint raced(std::int64_t sections) {
  ReportedPoint point;
  point.metrics["locks.section_lock.races"] = {sections, "", {}};
  point.metrics["locks.section_lock.first_race.at_us"] = {5.25, "us", {}};
  point.metrics["locks.section_lock.first_race.inside_cpu"] = {std::int64_t{0}, "", {}};
  point.metrics["locks.section_lock.first_race.entering_cpu"] = {std::int64_t{2}, "", {}};
  return point;
}

TEST(RaceNote, NamesTheLockTheNumberOfRacesAndTheFirstCpus) {
  EXPECT_EQ(race_note({raced(123)}, kUnbroken),
            "  RACE  section_lock excludes nobody: 123 sections overlapped another CPU's; the first: CPU 2 came in at 5.25 µs "
            "while CPU 0 was inside\n");
}

TEST(RaceNote, FitsTheTerminal) {
  std::istringstream text(race_note({raced(123)}, kPlain));
  for (std::string line; std::getline(text, line);) EXPECT_LE(width_of(line), kTerminalWidth) << line;
}

TEST(RaceNote, OfSeveralPointsNamesTheWorst) {
  std::vector<ReportedPoint> points = {raced(3), raced(9), raced(5)};
  points[1].at = {{"machine.cpus", std::int64_t{4}}};
  EXPECT_THAT(race_note(points, kUnbroken), HasSubstr("9 sections overlapped another CPU's at point 1 (machine.cpus = 4);"));
}

TEST(RaceNote, IsEmptyWithoutARace) {
  EXPECT_EQ(race_note({raced(0), ReportedPoint{}}, kPlain), "");
}

// Over several seeds this metric is a mean, and there is no CPU 1.5.
TEST(RaceNote, OfSeveralSeedsNamesNoPair) {
  ReportedPoint point = raced(4);
  point.metrics["locks.section_lock.first_race.entering_cpu"].value = 1.5;
  EXPECT_THAT(race_note({point}, kPlain), Not(HasSubstr("the first")));
}

}  // namespace
}  // namespace linebounce::sim
