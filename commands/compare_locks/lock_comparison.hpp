// Compares the replacements of each lock of a trace.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/compare_locks/lock_choice.hpp"
#include "sim/replay/orders.hpp"
#include "sim/results/reported_point.hpp"
#include "trace/limits.hpp"

namespace linebounce::sim {

// A lock that costs too little for a replacement to be worth a run.
struct CheapLock {
  std::string lock;
  double most_pct =
      // In percent of the run's time: all waiting for the lock, and all transfers of its word to CPUs that acquire or release
      // it.
      0;
};

// A trial: one of the trace's locks is replaced, all others are as recorded. Figures are medians over the orders; the longest
// wait is the maximum over all orders.
struct LockTrial {
  std::string lock, algorithm;
  bool recorded = false;                     // whether nothing is replaced
  double throughput_per_s = 0;               // of the whole run
  OrdersChange change;                       // change of throughput, compared with the recorded locks
  double wait_mean_us = 0, wait_max_us = 0;  // for this lock; the mean is over acquisitions that waited
  double waited_pct = 0;                     // for this lock, in percent of the time of all CPUs that have a thread
  double transfers = 0;                      // of the whole run: misses that another cache served, and upgrades
};

// All trials of one lock, the fastest first.
struct LockRanking {
  std::string lock;
  // The program's own algorithm; the trial "as recorded" may use the most similar one that we have.
  std::string recorded_algorithm;
  std::vector<LockTrial> trials;
  std::vector<std::string> failed;            // algorithms with which some run did not finish
  std::vector<std::string> not_offered = {};  // see not_offered() of lock_choice.hpp
  bool only_readers = false;                  // threads take it as readers, and no writer was recorded
};

// The lock that a trial replaces, and the algorithm that replaces it. Both empty: the trial replaces nothing.
struct LockReplacement {
  std::string lock, algorithm;
};

// The best trial, run again in orders other than those that chose it, in which it may have been lucky.
struct Confirmation {
  LockReplacement replacement;
  OrdersChange change;
};

// What is left out of the comparison of a long trace, so that the answer takes only about a minute.
struct FirstLook {
  struct Behind {
    std::string lock, algorithm;
    double change_pct = 0;  // change of throughput in the single order that was tried
  };
  std::vector<Behind> behind;      // replacements that did worse in that order than others of the same lock
  std::vector<std::string> locks;  // locks that were not replaced at all, because CPUs wait longer for others
};

struct LockComparison {
  std::string machine;
  std::filesystem::path directory;
  std::size_t orders = 0;  // number of orders in which each trial ran
  double order_pct = 0;    // how much throughput differs between orders with the recorded locks, in percent
  // By how many percent the recorded order is faster than the median of the trials' orders, which do not include it.
  double recorded_order_pct = 0;
  std::vector<LockRanking> locks;                 // sorted by gain, the largest first
  std::vector<CheapLock> cheap = {};              // locks that were not replaced because they cost too little
  std::optional<Confirmation> again;              // none: no trial gains anything
  std::optional<FirstLook> first_look = {};       // none: every lock was replaced by every other one in all orders
  bool of_user_program = false;                   // linebounce-record's: it can have only locks that a library has
  std::vector<workloads::LockEntry> from_files;   // compared locks that come from files and are not in the registry
  double tries_otherwise_pct = 0;                 // kTriesOtherwise: the largest of all runs with the locks as recorded
  trace::Limits limits = {};                      // of a verdict from this recording
  std::string basis = {};                         // what sizes rest on, from pace_sentence()
  std::map<std::string, std::string> words = {};  // words that were replayed as locks, with trace::classification()
  std::vector<std::string> assumptions = {};      // about the machine, worded by assumptions_of()
  std::string family_range =
      {};  // whether the gain holds over the range of the contention family; only for a user's own machine
  // words that behave like locks and matter, but were not replaced; each with trace::classification()
  std::vector<std::string> own_locks = {};
};

inline constexpr std::size_t kMostLocks = 4;  // that are replaced

// Whether the program can have this lock: it is in a library, or comes from one of the user's files.
bool can_be_had(const std::string& algorithm, bool of_user_program, const std::vector<workloads::LockEntry>& from_files);

// The locks that matter in a run with all locks as recorded: the (at most kMostLocks) locks that CPUs wait for longest. If no
// CPU waits, the lock that is acquired most often.
std::vector<RecordedLock> locks_that_matter(const std::vector<RecordedLock>& locks, const ReportedPoint& recorded);

// At most so many replacements per lock are kept after a first look, beside those of the user's own files.
inline constexpr int kLeftByFirstLook = 5;

// After all trials ran in one order, chooses those that run in all orders: the first, which replaces nothing; the best two of
// each lock, and of those that the program can have; the best fair one, which the advice names beside an unfair one; those of
// the user's own files; and those that did not finish, which the ranking names. `look` receives the others. Empty if the first
// trial did not finish.
std::vector<LockReplacement> left_by_first_look(const std::vector<LockReplacement>& trials, const TrialsInOrders& seen,
                                                const std::vector<workloads::LockEntry>& own, bool of_user_program,
                                                FirstLook& look);

// A rough estimate of how many host instructions one replay takes, from its operations and misses.
double instructions_of(const ReportedPoint& recorded, double operations);

// `cpus`: the machine's number of CPUs. None if the lock costs enough to be replaced.
std::optional<CheapLock> cheap_lock(const RecordedLock& lock, const ReportedPoint& recorded, int cpus);

// Ranks trials by their runs in several orders. The first of `trials` replaces nothing. None if too few runs finished.
// `recorded`: the run in the recorded order. `with_threads`: the share of the machine's CPUs that have a thread.
std::optional<LockComparison> ranked_locks(const std::vector<RecordedLock>& locks, const std::vector<LockReplacement>& trials,
                                           const TrialsInOrders& orders, const ReportedPoint& recorded, double with_threads);

// Adds trial 1 of `orders`, a replacement of this lock, to the lock's ranking. REQUIRES: it finished in all orders.
void add_trial(LockRanking& ranking, const RecordedLock& lock, const std::string& algorithm, const TrialsInOrders& orders,
               double with_threads);

// The trial to recommend if other orders confirm it: the one with the largest OrdersChange::promise_pct, of those that the
// program can have. Null if no trial promises a gain.
const LockTrial* best_gain(const LockComparison& comparison);

// Compares trial 1, which has the replacement, with trial 0. None if it did not finish in every order, or there are too few
// orders.
std::optional<Confirmation> confirmation_of(const LockReplacement& replacement, const TrialsInOrders& orders);

// How a lock was replayed if not as itself. For a lock of the program's own: "as rwlock; recorded: pthread_rwlock". For a
// word that behaves like a lock: its classification. Else empty.
std::string replayed_as(const LockComparison& comparison, const LockRanking& lock);

// "dcache_lock: mcs instead of ticket: +12.0 % (11.2 to 12.8) throughput on p3_xeon_8way", or that no replacement gains more
// than chance. If the best one is unfair, also names the best fair one.
std::string advice(const LockComparison& comparison);

}  // namespace linebounce::sim
