#include "sim/studies/compare_locks/lock_comparison.hpp"

#include <gmock/gmock.h>

#include "sim/terminal/lock_comparison_table.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;

// One lock; another one in its place changes the throughput by so many percent.
LockComparison comparison_of(double change_pct, double order_pct) {
  LockComparison comparison;
  comparison.machine = "m";
  comparison.order_pct = order_pct;
  LockTrial recorded;
  recorded.lock = "table";
  recorded.algorithm = "rwlock";
  recorded.recorded = true;
  LockTrial best = recorded;
  best.algorithm = "mcs";
  best.recorded = false;
  best.change_pct = change_pct;
  comparison.locks.push_back({"table", "pthread_rwlock", {best, recorded}, {}});
  return comparison;
}

TEST(LockComparison, AGainAboveTwiceWhatOrdersDifferByIsAdvised) {
  EXPECT_EQ(advice(comparison_of(3.5, 1.7)), "table: mcs instead of rwlock (pthread_rwlock): +3.5 % throughput on m");
}

TEST(LockComparison, AGainThatALuckyOrderCouldGiveIsNot) {
  EXPECT_EQ(advice(comparison_of(3.5, 1.8)),
            "m: leave the locks as they are: mcs for table gains 3.5 %, less than twice the 1.8 % that orders of the same "
            "operations differ by");
}

TEST(LockComparison, AGainBelowOnePercentIsNotWorthAChangeOfTheProgram) {
  EXPECT_EQ(advice(comparison_of(0.9, 0)), "m: leave the locks as they are: no other one gains as much as 1 %");
}

TEST(LockComparison, TheTableSaysWhatStandsForALockThatIsNotOurs) {
  LockComparison comparison = comparison_of(3.5, 0);
  EXPECT_THAT(lock_comparison_table(comparison, Painter(false, 100)),
              HasSubstr("table  as rwlock; recorded: pthread_rwlock\n"));
  comparison.locks.front().recorded_algorithm = "rwlock";
  EXPECT_EQ(replayed_as(comparison.locks.front()), "");
}

TEST(LockComparison, ALockWithWhichTheRunFailedIsNamedAndTheOthersAreRanked) {
  const auto with_throughput = [](double per_s) {
    return ReportedPoint{{}, {{"throughput.operations_per_s", {per_s, "1/s", {}}}}};
  };
  RecordedLock lock;
  lock.name = "table";
  lock.algorithm = lock.replayed_as = "ttas";
  const std::vector<LockReplacement> trials = {{}, {"table", "ticket"}, {"table", "mcs"}};
  const LockComparison comparison =
      ranked_locks({lock}, trials, {with_throughput(100), ReportedPoint{{}, {}, false}, with_throughput(110)});
  const LockRanking& ranking = comparison.locks.front();
  ASSERT_EQ(ranking.trials.size(), 2);
  EXPECT_EQ(ranking.trials.front().algorithm, "mcs");
  EXPECT_THAT(ranking.failed, testing::ElementsAre("ticket"));
  EXPECT_THAT(lock_comparison_table(comparison, Painter(false, 100)), testing::ContainsRegex("ticket +failed\n"));
}

}  // namespace
}  // namespace linebounce::sim
