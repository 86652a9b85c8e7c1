#include "commands/compare_locks/lock_comparison.hpp"

#include <gmock/gmock.h>

#include "commands/compare_locks/lock_comparison_table.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

// A comparison with one lock whose best replacement has this change, in three orders.
LockComparison comparison_of(OrdersChange change) {
  LockComparison comparison;
  comparison.machine = "m";
  comparison.orders = 3;
  LockTrial recorded;
  recorded.lock = "table";
  recorded.algorithm = "rwlock";
  recorded.recorded = true;
  LockTrial best = recorded;
  best.algorithm = "mcs";
  best.recorded = false;
  best.change = change;
  comparison.locks.push_back({"table", "pthread_rwlock", {best, recorded}, {}});
  return comparison;
}

LockComparison confirmed(OrdersChange first, OrdersChange again) {
  LockComparison comparison = comparison_of(first);
  comparison.again = Confirmation{{"table", "mcs"}, again};
  return comparison;
}

ReportedPoint with_throughput(double per_s) {
  return ReportedPoint{{}, {{"throughput.operations_per_s", {per_s, "1/s", {}}}}};
}

RecordedLock table_lock() {
  RecordedLock lock;
  lock.name = "table";
  lock.algorithm = lock.replayed_as = "ttas";
  return lock;
}

TrialsInOrders in_orders(const std::vector<std::vector<ReportedPoint>>& orders) {
  std::vector<ReportedPoint> points;
  for (const auto& order : orders) points.insert(points.end(), order.begin(), order.end());
  return {points, static_cast<int>(orders.size())};
}

const std::vector<LockReplacement> kTrials = {{}, {"table", "ticket"}, {"table", "mcs"}};

TEST(LockComparison, AGainThatOtherOrdersConfirmIsAdvisedWithTheirFigures) {
  EXPECT_EQ(advice(confirmed({3.5, 1.7, 5.2}, {3.1, 2.2, 4})),
            "table: mcs instead of rwlock (pthread_rwlock): +3.1 % (2.2 to 4.0) throughput on m");
}

TEST(LockComparison, ASpinningLockInThePlaceOfASleepingOneHasAWarning) {
  LockComparison comparison = confirmed({3.5, 1.7, 5.2}, {3.1, 2.2, 4});
  comparison.locks.front().trials.back().algorithm = "mutex";
  EXPECT_THAT(advice(comparison),
              testing::EndsWith("; mcs spins: with more threads than CPUs, waiters keep the owner from running"));
}

// A comparison for a program that linebounce-record has recorded, in which hbo, which no library has, gains most.
LockComparison of_user_program() {
  LockComparison comparison = confirmed({3.5, 1.7, 5.2}, {3.1, 2.2, 4});
  comparison.of_user_program = true;
  LockTrial hbo = comparison.locks.front().trials.front();
  hbo.algorithm = "hbo";
  hbo.change = {20, 18, 22};
  std::vector<LockTrial>& trials = comparison.locks.front().trials;
  trials.insert(trials.begin(), hbo);
  return comparison;
}

TEST(LockComparison, ALockThatNoLibraryHasIsNamedAndNeverAdvised) {
  const LockComparison comparison = of_user_program();
  EXPECT_EQ(best_gain(comparison)->algorithm, "mcs");
  EXPECT_EQ(advice(comparison),
            "table: mcs instead of rwlock (pthread_rwlock): +3.1 % (2.2 to 4.0) throughput on m; mcs comes from ConcurrencyKit "
            "(ck_spinlock_mcs); hbo for table, which no library has, gains +20.0 % (18.0 to 22.0)");
  EXPECT_THAT(lock_comparison_table(comparison, Painter(false, 200)), HasSubstr("so never recommended: hbo."));
}

TEST(LockComparison, AKernelCanHaveEveryLock) {
  LockComparison comparison = of_user_program();
  comparison.of_user_program = false;
  EXPECT_EQ(best_gain(comparison)->algorithm, "hbo");
}

TEST(LockComparison, ALockOfTheUsersOwnFileNeedsNoLibrary) {
  LockComparison comparison = of_user_program();
  comparison.from_files.emplace_back();
  comparison.from_files.front().name = "hbo";
  EXPECT_EQ(best_gain(comparison)->algorithm, "hbo");
}

TEST(LockComparison, AGainOfReadersWithoutARecordedWriterIsSaidToLackItsCost) {
  LockComparison comparison = confirmed({3.5, 1.7, 5.2}, {3.1, 2.2, 4});
  comparison.locks.front().only_readers = true;
  EXPECT_THAT(advice(comparison), Not(HasSubstr("no writer was recorded"))) << "readers of mcs exclude each other";
  comparison.locks.front().trials.front().algorithm = comparison.again->replacement.algorithm = "bravo";
  EXPECT_THAT(advice(comparison), HasSubstr("; no writer was recorded, which would have to wait for the readers"));
}

TEST(LockComparison, AGainThatOtherOrdersDontShowIsChance) {
  EXPECT_EQ(
      advice(confirmed({3.5, 1.7, 5.2}, {0.2, -2, 1.8})),
      "m: leave the locks as they are: no other one is better by more than chance: mcs for table gains +3.5 % (1.7 to 5.2) "
      "in 3 orders, and +0.2 % (-2.0 to 1.8) in others");
}

TEST(LockComparison, AGainThatCouldNotBeConfirmedIsNotAdvised) {
  EXPECT_EQ(
      advice(comparison_of({3.5, 1.7, 5.2})),
      "m: leave the locks as they are: mcs for table gains +3.5 % (1.7 to 5.2) in 3 orders, but has not finished in others");
}

TEST(LockComparison, AGainWhoseIntervalHoldsZeroIsChance) {
  const LockComparison comparison = comparison_of({3.5, -0.1, 7});
  EXPECT_EQ(best_gain(comparison), nullptr);
  EXPECT_EQ(
      advice(comparison),
      "m: leave the locks as they are: no other one is better by more than chance: mcs for table gains +3.5 % (-0.1 to 7.0) "
      "in 3 orders");
}

TEST(LockComparison, AGainBelowOnePercentIsNotWorthAChangeOfTheProgram) {
  EXPECT_EQ(advice(comparison_of({0.9, 0.8, 1})), "m: leave the locks as they are: no other one gains as much as 1 %");
}

TEST(LockComparison, WhatWasNotRecordedKeepsItFromAVerdictAndNotFromAGain) {
  const trace::Limits unseen({{"atomics_ran", trace::Bearing::may_add, "Atomic instructions were not recorded."}});
  LockComparison leave = comparison_of({0.9, 0.8, 1});
  leave.limits = unseen;
  EXPECT_EQ(advice(leave), "m: no verdict; in what was recorded, no other one gains as much as 1 %");
  LockComparison gains = confirmed({3.5, 1.7, 5.2}, {3.1, 2.2, 4});
  const std::string gain = advice(gains);
  gains.limits = unseen;
  EXPECT_EQ(advice(gains), gain);
  gains.limits = trace::Limits({{"cloned", trace::Bearing::may_reverse, "The program made a thread by clone."}});
  EXPECT_EQ(advice(gains), "m: no verdict");
}

TEST(LockComparison, TheRecordedOrderIsHeldAgainstTheOthersAndIsNoneOfThem) {
  const auto order = [](double base, double mcs) {
    return std::vector<ReportedPoint>{with_throughput(base), with_throughput(base), with_throughput(mcs)};
  };
  const auto comparison = ranked_locks({table_lock()}, kTrials, in_orders({order(100, 110), order(102, 110), order(98, 110)}),
                                       with_throughput(108), 1);
  ASSERT_TRUE(comparison);
  EXPECT_DOUBLE_EQ(comparison->order_pct, 4);
  EXPECT_NEAR(comparison->recorded_order_pct, 8, 1e-9);
  EXPECT_EQ(best_gain(*comparison)->algorithm, "mcs");
  EXPECT_NEAR(best_gain(*comparison)->change.median_pct, 10, 1e-9);
}

TEST(LockComparison, WaitingIsThatOfCpusWithAThread) {
  ReportedPoint point = with_throughput(100);
  RecordedLock lock = table_lock();
  lock.metrics = "lock.table.";
  point.metrics["lock.table.cpu_pct"] = {2.5, "%", {}};
  const std::vector<ReportedPoint> order(3, point);
  const auto comparison = ranked_locks({lock}, kTrials, in_orders({order, order}), point, 4.0 / 32);
  EXPECT_DOUBLE_EQ(comparison->locks.front().trials.front().waited_pct, 20);
}

TEST(LockComparison, AnOrderInWhichTheRecordedLocksFailHasNothingToCompareWith) {
  const std::vector<ReportedPoint> good(3, with_throughput(100));
  std::vector<ReportedPoint> failed = good;
  failed.front().finished = false;
  EXPECT_EQ(ranked_locks({table_lock()}, kTrials, in_orders({good, failed, good}), good.front(), 1)->orders, 2);
  EXPECT_FALSE(ranked_locks({table_lock()}, kTrials, in_orders({good, failed, failed}), good.front(), 1));
}

// A run of 1000 us, with 0.2 us for each transfer of a line.
ReportedPoint short_run() {
  ReportedPoint point = with_throughput(1e6);
  point.metrics["replay.operations"] = {1000., "", {}};
  point.metrics["latency.remote_c2c.mean_ns"] = {200., "ns", {}};
  return point;
}

TEST(LockComparison, ALockIsNotReplacedIfItsWordsWaysAndWaitsAreTooShortToGainAnything) {
  RecordedLock lock = table_lock();
  lock.metrics = "lock.table.";
  lock.acquired = 3;
  const auto cheap = cheap_lock(lock, short_run(), 4);
  ASSERT_TRUE(cheap);
  EXPECT_NEAR(cheap->most_pct, 100 * 3 * 4 * 0.2 / 1000, 1e-9);
  lock.acquired_shared = 1;
  EXPECT_FALSE(cheap_lock(lock, short_run(), 4)) << "0.32 %";
  lock.acquired_shared = 0;
  ReportedPoint waited = short_run();
  waited.metrics["lock.table.cpu_pct"] = {0.01, "%", {}};
  EXPECT_TRUE(cheap_lock(lock, waited, 0));
  EXPECT_FALSE(cheap_lock(lock, waited, 4)) << "one thread may have waited all of it";
}

TEST(LockComparison, WhereAllLocksAreCheapTheVerdictSaysWhyNoneWasTried) {
  LockComparison comparison;
  comparison.machine = "m";
  comparison.cheap = {{"table", 0.12}, {"queue", 0.02}};
  EXPECT_EQ(advice(comparison),
            "m: leave the locks as they are: to take them and to wait for them costs at most 0.14 % of the run's time");
  EXPECT_THAT(lock_comparison_table(comparison, Painter(false, 200)), HasSubstr("table (0.12 %), queue (0.02 %)"));
}

TEST(LockComparison, TheTableSaysWhatStandsForALockThatIsNotOurs) {
  LockComparison comparison = comparison_of({3.5, 3, 4});
  EXPECT_THAT(lock_comparison_table(comparison, Painter(false, 100)),
              HasSubstr("table  as rwlock; recorded: pthread_rwlock\n"));
  comparison.locks.front().recorded_algorithm = "rwlock";
  EXPECT_EQ(replayed_as(comparison, comparison.locks.front()), "");
}

TEST(LockComparison, ALockWithWhichTheRunFailedIsNamedAndTheOthersAreRanked) {
  const std::vector<ReportedPoint> good = {with_throughput(100), with_throughput(105), with_throughput(110)};
  std::vector<ReportedPoint> one_failed = good;
  one_failed[1] = ReportedPoint{{}, {}, false};
  const LockComparison comparison = *ranked_locks({table_lock()}, kTrials, in_orders({good, one_failed}), good.front(), 1);
  const LockRanking& ranking = comparison.locks.front();
  ASSERT_EQ(ranking.trials.size(), 2);
  EXPECT_EQ(ranking.trials.front().algorithm, "mcs");
  EXPECT_THAT(ranking.failed, testing::ElementsAre("ticket"));
  EXPECT_THAT(lock_comparison_table(comparison, Painter(false, 100)), testing::ContainsRegex("ticket +failed\n"));
}

}  // namespace
}  // namespace linebounce::sim
