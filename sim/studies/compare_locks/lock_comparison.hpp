// Compares the locks that replace each lock of a trace.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/results/paper.hpp"
#include "sim/studies/advice/lock_choice.hpp"
#include "sim/studies/replay/orders.hpp"

namespace linebounce::sim {

// A lock that no replacement could improve enough to be worth a run.
struct CheapLock {
  std::string lock;
  double most_pct =
      0;  // in percent of the run's time, for all waits for the lock and for moving its word to CPUs that acquire or release it
};

// One lock of the trace is replaced, all others are as recorded. Figures are medians over the orders; the longest wait is the
// longest of all.
struct LockTrial {
  std::string lock, algorithm;
  bool recorded = false;                     // whether nothing is replaced
  double throughput_per_s = 0;               // of the whole run
  OrdersChange change;                       // of the throughput, compared with the recorded locks
  double wait_mean_us = 0, wait_max_us = 0;  // for this lock, over acquisitions that waited
  double waited_pct = 0;                     // for this lock, in percent of the time of CPUs that have a thread
  double transfers = 0;                      // misses of the whole run that another cache has served, and upgrades
};

// All trials of one lock, the fastest first.
struct LockRanking {
  std::string lock;
  std::string recorded_algorithm;  // the program's own; the trial "as recorded" may use our nearest one
  std::vector<LockTrial> trials;
  std::vector<std::string> failed;            // algorithms with which a run did not finish
  std::vector<std::string> not_offered = {};  // see not_offered() of lock_choice.hpp
};

// The replaced lock of a trial; empty names: none.
struct LockReplacement {
  std::string lock, algorithm;
};

// The best trial again, in orders that had no part in its choice, because the best of many locks may owe its place to the
// orders.
struct Confirmation {
  LockReplacement replacement;
  OrdersChange change;
};

// What a comparison of a long trace leaves out, so that it answers within about a minute.
struct FirstLook {
  struct Behind {
    std::string lock, algorithm;
    double change_pct = 0;  // of the throughput, in the one order that was tried
  };
  std::vector<Behind> behind;      // replacements that others of the same lock surpassed there
  std::vector<std::string> locks;  // locks for which nothing was tried, because others are waited for longer
};

struct LockComparison {
  std::string machine;
  std::filesystem::path directory;
  std::size_t orders = 0;             // in how many orders each trial ran
  double order_pct = 0;               // by how much orders differ in throughput, with the locks as recorded
  double recorded_order_pct = 0;      // by how much the recorded order, which is none of these, is faster than their median
  std::vector<LockRanking> locks;     // the lock with the largest gain first
  std::vector<CheapLock> cheap = {};  // locks that were not replaced
  std::optional<Confirmation> again;  // none: no trial gains anything
  std::optional<FirstLook> first_look = {};      // none: every lock was replaced by every other one, in all orders
  std::vector<workloads::LockEntry> from_files;  // compared locks that are in no registry
  double tries_otherwise_pct = 0;                // kTriesOtherwise, the largest over all runs with the locks as recorded
  bool unseen_atomics = false;  // atomics of the program that may be locks, so that there is no verdict on all its locks
  std::map<std::string, std::string> words = {};  // words that were taken for locks, with trace::classification()
  std::vector<std::string> assumptions = {};      // about the machine, worded by assumptions_of()
  std::string family_range =
      {};  // on a machine of the user's own: whether the gain survives the range of its contention family
  // important words that behave like locks and were not replaced, with trace::classification()
  std::vector<std::string> own_locks = {};
};

// The locks that matter in a run with all of them as recorded: those with the longest waiting or, if no CPU waits, the one that
// is taken most. At most four.
std::vector<RecordedLock> locks_that_matter(const std::vector<RecordedLock>& locks, const ReportedPoint& recorded);

inline constexpr int kLeftByFirstLook = 2;  // replacements of each lock that go on after a first look

// From trials in one order, of which the first replaces nothing, chooses those to try further: that one, the best two of each
// lock, the user's own files, and those that did not finish, which the ranking names. The rest goes to `look`. Empty if the
// first did not finish.
std::vector<LockReplacement> left_by_first_look(const std::vector<LockReplacement>& trials, const TrialsInOrders& seen,
                                                const std::vector<workloads::LockEntry>& own, FirstLook& look);

// A rough estimate of the host instructions of one replay, from its operations and misses.
double instructions_of(const ReportedPoint& recorded, double operations);

// `cpus`: the machine's. None if the lock may cost enough to try others.
std::optional<CheapLock> cheap_lock(const RecordedLock& lock, const ReportedPoint& recorded, int cpus);

// `orders`: the runs of `trials`, of which the first replaces nothing. None if they are too few. `recorded`: the run in the
// recorded order. `with_threads`: the share of the machine's CPUs that have a thread.
std::optional<LockComparison> ranked_locks(const std::vector<RecordedLock>& locks, const std::vector<LockReplacement>& trials,
                                           const TrialsInOrders& orders, const ReportedPoint& recorded, double with_threads);

// The trial to recommend if other orders confirm it: the most promising one (OrdersChange::promise_pct). Null if no
// trial promises a gain.
const LockTrial* best_gain(const LockComparison& comparison);

// Trial 1 has the replacement. None if it has not finished in every order, or there are too few.
std::optional<Confirmation> confirmation_of(const LockReplacement& replacement, const TrialsInOrders& orders);

// "as rwlock; recorded: pthread_rwlock", if the program's lock is none of ours; for a word that behaves like a lock, its
// classification; else empty.
std::string replayed_as(const LockComparison& comparison, const LockRanking& lock);

// "dcache_lock: mcs instead of ticket: +12.0 % (11.2 to 12.8) throughput on p3_xeon_8way", or that no lock is better by more
// than chance. If the best lock is unfair, also the best fair one.
std::string advice(const LockComparison& comparison);

}  // namespace linebounce::sim
