// Compares the replacements of each lock of a trace.
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

// A lock that costs so little that no replacement could be worth a run.
struct CheapLock {
  std::string lock;
  double most_pct =
      0;  // in percent of the run's time: all waiting for the lock, and moving its word to CPUs that acquire or release it
};

// A trial: one lock of the trace is replaced, all others are as recorded. Figures are medians over the orders; the longest
// wait is the maximum over all of them.
struct LockTrial {
  std::string lock, algorithm;
  bool recorded = false;                     // whether nothing is replaced
  double throughput_per_s = 0;               // of the whole run
  OrdersChange change;                       // change of throughput, compared with the recorded locks
  double wait_mean_us = 0, wait_max_us = 0;  // for this lock; the mean is over acquisitions that waited
  double waited_pct = 0;                     // for this lock, in percent of the time of the CPUs that have a thread
  double transfers = 0;                      // misses of the whole run that another cache served, and upgrades
};

// All trials of one lock, the fastest first.
struct LockRanking {
  std::string lock;
  // The program's own algorithm; the trial "as recorded" may use the most similar one that we have.
  std::string recorded_algorithm;
  std::vector<LockTrial> trials;
  std::vector<std::string> failed;            // algorithms with which a run did not finish
  std::vector<std::string> not_offered = {};  // see not_offered() of lock_choice.hpp
};

// Which lock a trial replaces, and by what; empty names: it replaces none.
struct LockReplacement {
  std::string lock, algorithm;
};

// The best trial, run again in other orders than those that selected it. The best of many trials may have been lucky in its
// orders.
struct Confirmation {
  LockReplacement replacement;
  OrdersChange change;
};

// What is left out when a long trace is compared, so that the answer takes only about a minute.
struct FirstLook {
  struct Behind {
    std::string lock, algorithm;
    double change_pct = 0;  // change of throughput in the single order that was tried
  };
  std::vector<Behind> behind;      // replacements that did worse there than others of the same lock
  std::vector<std::string> locks;  // locks for which nothing was tried, because CPUs wait longer for others
};

struct LockComparison {
  std::string machine;
  std::filesystem::path directory;
  std::size_t orders = 0;  // number of orders in which each trial ran
  double order_pct = 0;    // how much throughput differs between orders with the recorded locks
  // How much faster the recorded order is than the median of these orders, which do not include it.
  double recorded_order_pct = 0;
  std::vector<LockRanking> locks;                // sorted by gain, the largest first
  std::vector<CheapLock> cheap = {};             // locks that were not replaced
  std::optional<Confirmation> again;             // none: no trial gains anything
  std::optional<FirstLook> first_look = {};      // none: every lock was replaced by every other one in all orders
  std::vector<workloads::LockEntry> from_files;  // compared locks that come from files and are not in the registry
  double tries_otherwise_pct = 0;                // kTriesOtherwise, the largest over all runs with the locks as recorded
  // True if the program has atomics that may be locks; there is then no verdict on all of its locks.
  bool unseen_atomics = false;
  std::map<std::string, std::string> words = {};  // words that were replayed as locks, with trace::classification()
  std::vector<std::string> assumptions = {};      // about the machine, worded by assumptions_of()
  std::string family_range =
      {};  // whether the gain holds over the range of the contention family; only for a user's own machine
  // words that behave like locks, matter, and were not replaced; with trace::classification()
  std::vector<std::string> own_locks = {};
};

// The locks that matter when all run as recorded: at most four of those that CPUs wait for longest. If no CPU waits, the lock
// that is taken most often.
std::vector<RecordedLock> locks_that_matter(const std::vector<RecordedLock>& locks, const ReportedPoint& recorded);

inline constexpr int kLeftByFirstLook = 2;  // number of replacements per lock that are kept after a first look

// Chooses trials to continue with from trials in one order, of which the first replaces nothing: that one, the best two of
// each lock, the user's own files, and those that did not finish, which the ranking names. `look` receives the others. Empty
// if the first trial did not finish.
std::vector<LockReplacement> left_by_first_look(const std::vector<LockReplacement>& trials, const TrialsInOrders& seen,
                                                const std::vector<workloads::LockEntry>& own, FirstLook& look);

// A rough estimate of the host instructions of one replay, from its operations and misses.
double instructions_of(const ReportedPoint& recorded, double operations);

// `cpus`: the machine's. None if the lock costs enough to try replacements.
std::optional<CheapLock> cheap_lock(const RecordedLock& lock, const ReportedPoint& recorded, int cpus);

// Ranks trials by their runs in several orders. The first of `trials` replaces nothing. None if there are too few runs.
// `recorded`: the run in the recorded order. `with_threads`: the share of the machine's CPUs that have a thread.
std::optional<LockComparison> ranked_locks(const std::vector<RecordedLock>& locks, const std::vector<LockReplacement>& trials,
                                           const TrialsInOrders& orders, const ReportedPoint& recorded, double with_threads);

// The trial to recommend if other orders confirm it: the one with the largest OrdersChange::promise_pct. Null if no trial
// promises a gain.
const LockTrial* best_gain(const LockComparison& comparison);

// Compares trial 1, which has the replacement, with trial 0. None if it did not finish in every order, or there are too few
// orders.
std::optional<Confirmation> confirmation_of(const LockReplacement& replacement, const TrialsInOrders& orders);

// How a lock was replayed, if not as itself: "as rwlock; recorded: pthread_rwlock" for a lock of the program's own, the
// classification for a word that behaves like a lock. Otherwise empty.
std::string replayed_as(const LockComparison& comparison, const LockRanking& lock);

// "dcache_lock: mcs instead of ticket: +12.0 % (11.2 to 12.8) throughput on p3_xeon_8way", or that no lock gains more than
// chance. If the best lock is unfair, also names the best fair one.
std::string advice(const LockComparison& comparison);

}  // namespace linebounce::sim
