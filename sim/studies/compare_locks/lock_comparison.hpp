// What each lock does in the place of each lock of a trace.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/results/paper.hpp"
#include "sim/studies/advice/lock_choice.hpp"

namespace linebounce::sim {

// One run: one lock of the trace replaced, all others as recorded.
struct LockTrial {
  std::string lock, algorithm;
  bool recorded = false;                     // nothing is replaced
  double throughput_per_s = 0;               // of the whole run
  double change_pct = 0;                     // of that, against the recorded locks
  double wait_mean_us = 0, wait_max_us = 0;  // for this lock, of those who waited
  double waited_pct = 0;                     // of all CPUs' time, for this lock
  double transfers = 0;                      // misses of the whole run that another cache has served, and upgrades
};

// Of one lock all trials, the fastest first.
struct LockRanking {
  std::string lock;
  std::string recorded_algorithm;  // what the program had; the trial that is as recorded may be the nearest of ours
  std::vector<LockTrial> trials;
  std::vector<std::string> failed;  // algorithms with which the run came to no end
};

struct LockComparison {
  std::string machine;
  std::filesystem::path directory;
  double order_pct = 0;            // of the throughput: by how much orders of the same operations differ
  std::vector<LockRanking> locks;  // that with the largest gain first
};

// Which of the locks matter in a run with all of them as recorded: those that somebody waits for, by how long; if nobody waits,
// the one that is taken most. At most four.
std::vector<RecordedLock> locks_that_matter(const std::vector<RecordedLock>& locks, const ReportedPoint& recorded);

// Point k of `points` is trial k of `trials`; the first one is as recorded.
struct LockReplacement {
  std::string lock, algorithm;
};
LockComparison ranked_locks(const std::vector<RecordedLock>& locks, const std::vector<LockReplacement>& trials,
                            const std::vector<ReportedPoint>& points);

// Whether it gains enough for a change of the program, and more than twice what orders of the same operations differ by.
bool is_worth_it(const LockTrial& trial, const LockComparison& comparison);

// "as rwlock; recorded: pthread_rwlock", where what the program had is no lock of ours; else empty.
std::string replayed_as(const LockRanking& lock);

// "dcache_lock: mcs instead of ticket: +12.0 % throughput on p3_xeon_8way", or that nothing gains. If the fastest lock is
// unfair, the fastest one that is not, too.
std::string advice(const LockComparison& comparison);

}  // namespace linebounce::sim
