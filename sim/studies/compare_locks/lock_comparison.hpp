// What each lock does in the place of each lock of a trace.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/results/paper.hpp"
#include "sim/studies/advice/lock_choice.hpp"

namespace linebounce::sim {

// By how many percent of the throughput a replay changes when one lock is replaced. Measured in several orders of the same
// operations, each with and without the replacement.
struct OrdersChange {
  double median_pct = 0;
  double low_pct = 0, high_pct = 0;  // 95 % interval (Student) of the mean over orders; with up to six the median lies in it
  // Gains enough for a change of the program, and by more than chance.
  [[nodiscard]] bool is_gain() const;
};

// Value i of both sides is of one order. REQUIRES: as many of one as of the other, two at least; none of `base` is 0.
OrdersChange orders_change(const std::vector<double>& base, const std::vector<double>& changed);

// One lock of the trace replaced, all others as recorded. Figures are medians over the orders, the longest wait is of all.
struct LockTrial {
  std::string lock, algorithm;
  bool recorded = false;                     // nothing is replaced
  double throughput_per_s = 0;               // of the whole run
  OrdersChange change;                       // of that, against the recorded locks
  double wait_mean_us = 0, wait_max_us = 0;  // for this lock, of those who waited
  double waited_pct = 0;                     // of all CPUs' time, for this lock
  double transfers = 0;                      // misses of the whole run that another cache has served, and upgrades
};

// Of one lock all trials, the fastest first.
struct LockRanking {
  std::string lock;
  std::string recorded_algorithm;  // what the program had; the trial that is as recorded may be the nearest of ours
  std::vector<LockTrial> trials;
  std::vector<std::string> failed;  // algorithms with which a run came to no end
};

// Locks that are replaced: in a trial none or one.
struct LockReplacement {
  std::string lock, algorithm;
};

// The best trial once more, in orders that had no part in its choice: the best of many locks may owe its place to them.
struct Confirmation {
  LockReplacement replacement;
  OrdersChange change;
};

struct LockComparison {
  std::string machine;
  std::filesystem::path directory;
  std::size_t orders = 0;             // in which each trial was run
  double order_pct = 0;               // of the throughput: by how much orders differ, with the locks as recorded
  double recorded_order_pct = 0;      // by how much the recorded order, which is none of these, is faster than their median
  std::vector<LockRanking> locks;     // that with the largest gain first
  std::optional<Confirmation> again;  // none: no trial gains anything
};

// Which of the locks matter in a run with all of them as recorded: those that somebody waits for, by how long; if nobody waits,
// the one that is taken most. At most four.
std::vector<RecordedLock> locks_that_matter(const std::vector<RecordedLock>& locks, const ReportedPoint& recorded);

// `orders`: for each order a point for each of `trials`, of which the first replaces nothing. An order in which that one has
// not finished is left out. None: fewer than two are left. `recorded` is in the recorded order.
std::optional<LockComparison> ranked_locks(const std::vector<RecordedLock>& locks, const std::vector<LockReplacement>& trials,
                                           const std::vector<std::vector<ReportedPoint>>& orders,
                                           const ReportedPoint& recorded);

// The trial to advise, if it proves itself in other orders: of those that gain anything, that with the largest change.
const LockTrial* best_gain(const LockComparison& comparison);

// Of `orders`, each a point as recorded and one with the replacement. None: it has not finished in two orders.
std::optional<Confirmation> confirmation_of(const LockReplacement& replacement,
                                            const std::vector<std::vector<ReportedPoint>>& orders);

// "as rwlock; recorded: pthread_rwlock", where what the program had is no lock of ours; else empty.
std::string replayed_as(const LockRanking& lock);

// "dcache_lock: mcs instead of ticket: +12.0 % (11.2 to 12.8) throughput on p3_xeon_8way", or that no lock is better by more
// than chance. If the best lock is unfair, the best one that is not, too.
std::string advice(const LockComparison& comparison);

}  // namespace linebounce::sim
