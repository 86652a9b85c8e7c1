// What each lock does in the place of each lock of a trace.
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

// A lock that no other could better by as much as is worth a run.
struct CheapLock {
  std::string lock;
  double most_pct =
      0;  // of the run's time, for all waits for it and for the way of its word to whoever takes it or gives it back
};

// One lock of the trace replaced, all others as recorded. Figures are medians over the orders, the longest wait is of all.
struct LockTrial {
  std::string lock, algorithm;
  bool recorded = false;                     // nothing is replaced
  double throughput_per_s = 0;               // of the whole run
  OrdersChange change;                       // of that, against the recorded locks
  double wait_mean_us = 0, wait_max_us = 0;  // for this lock, of those who waited
  double waited_pct = 0;                     // of the time of CPUs that have a thread, for this lock
  double transfers = 0;                      // misses of the whole run that another cache has served, and upgrades
};

// Of one lock all trials, the fastest first.
struct LockRanking {
  std::string lock;
  std::string recorded_algorithm;  // what the program had; the trial that is as recorded may be the nearest of ours
  std::vector<LockTrial> trials;
  std::vector<std::string> failed;            // algorithms with which a run came to no end
  std::vector<std::string> not_offered = {};  // as not_offered() of lock_choice.hpp
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

// What a comparison of a long trace leaves out, so that it answers within a minute or so.
struct FirstLook {
  struct Behind {
    std::string lock, algorithm;
    double change_pct = 0;  // of the throughput, in the one order that was looked at
  };
  std::vector<Behind> behind;      // replacements that others of the same lock left behind there
  std::vector<std::string> locks;  // that nothing was tried for: others are waited for longer
};

struct LockComparison {
  std::string machine;
  std::filesystem::path directory;
  std::size_t orders = 0;             // in which each trial was run
  double order_pct = 0;               // of the throughput: by how much orders differ, with the locks as recorded
  double recorded_order_pct = 0;      // by how much the recorded order, which is none of these, is faster than their median
  std::vector<LockRanking> locks;     // that with the largest gain first
  std::vector<CheapLock> cheap = {};  // were not replaced
  std::optional<Confirmation> again;  // none: no trial gains anything
  std::optional<FirstLook> first_look = {};      // none: every lock was replaced by every other one, in all orders
  std::vector<workloads::LockEntry> from_files;  // locks that took part and are in no table
  double tries_otherwise_pct = 0;                // kTriesOtherwise, the largest of all runs with the locks as recorded
  bool unseen_atomics = false;  // of the program, which may be locks: then there is no verdict on all its locks
  std::map<std::string, std::string> words = {};  // those that were taken for locks, with trace::classification()
  std::vector<std::string> assumptions = {};      // about the machine, as assumptions_of() words them
  std::vector<std::string> own_locks = {};        // words that behave like locks, matter, and were not replaced: likewise
};

// Which of the locks matter in a run with all of them as recorded: those that somebody waits for, by how long; if nobody waits,
// the one that is taken most. At most four.
std::vector<RecordedLock> locks_that_matter(const std::vector<RecordedLock>& locks, const ReportedPoint& recorded);

inline constexpr int kLeftByFirstLook = 2;  // replacements of each lock

// Of trials that ran in one order, of which the first replaces nothing: that one, the best two of each lock, those of the
// user's own files, and those that came to no end, which the ranking names. The others go to `look`. Empty: the first came to
// none.
std::vector<LockReplacement> left_by_first_look(const std::vector<LockReplacement>& trials, const TrialsInOrders& seen,
                                                const std::vector<workloads::LockEntry>& own, FirstLook& look);

// What one replay takes of a host's instructions, roughly, from what it replays and what the machine does for it.
double instructions_of(const ReportedPoint& recorded, double operations);

// `cpus`: of the machine. None: it may cost enough to try others.
std::optional<CheapLock> cheap_lock(const RecordedLock& lock, const ReportedPoint& recorded, int cpus);

// `orders`: of `trials`, of which the first replaces nothing. None: they are not enough. `recorded` is in the recorded order.
// `with_threads`: of the machine's CPUs the share that has a thread.
std::optional<LockComparison> ranked_locks(const std::vector<RecordedLock>& locks, const std::vector<LockReplacement>& trials,
                                           const TrialsInOrders& orders, const ReportedPoint& recorded, double with_threads);

// The trial to advise, if it proves itself in other orders: that which promises most (OrdersChange::promise_pct). Null: none
// promises anything.
const LockTrial* best_gain(const LockComparison& comparison);

// Trial 1 has the replacement. None: it has not finished in every order, or they are not enough.
std::optional<Confirmation> confirmation_of(const LockReplacement& replacement, const TrialsInOrders& orders);

// "as rwlock; recorded: pthread_rwlock", where what the program had is no lock of ours; of a word that behaves like a lock how
// it was classified; else empty.
std::string replayed_as(const LockComparison& comparison, const LockRanking& lock);

// "dcache_lock: mcs instead of ticket: +12.0 % (11.2 to 12.8) throughput on p3_xeon_8way", or that no lock is better by more
// than chance. If the best lock is unfair, the best one that is not, too.
std::string advice(const LockComparison& comparison);

}  // namespace linebounce::sim
