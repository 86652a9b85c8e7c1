// A trace of the mix that lock_stat has measured: CPUs that compute, take one of the locks and hold it, again and again, each
// as often and as long as measured. That assumes one lock for each class, and that CPUs come by chance and without regard to
// each other; then the waiting follows from queueing theory. A class whose measured waiting is another is left out, since for
// it the assumption is wrong: what another lock in its place would cost can't be told from sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/sources/lock_statistics.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

struct MeasuredTime {
  double seconds = 0;
  int cpus = 0;
};

struct MixedLock {
  std::string name;
  double per_s = 0, hold_us = 0;     // measured, both
  double busy_pct = 0, wait_us = 0;  // of all acquisitions: those that waited, and the mean wait
  double expected_busy_pct = 0, expected_wait_us = 0;
  std::int64_t acquisitions = 0;  // in the trace
};

struct LeftOutLock {
  std::string name, why;
};

struct LockMix {
  MeasuredTime measured;
  std::vector<MixedLock> locks;
  std::vector<LeftOutLock> left_out;  // of those that somebody waited for
  double between_us = 0;              // that a CPU computes before each acquisition, on average
};

// REQUIRES: each has acquisitions and hold.
LockMix lock_mix(const std::vector<LockStatistics>& locks, const MeasuredTime& measured);

// Of those that were waited for most: "jiffies_lock is left out: it ..."; one more of how many there are beside them.
std::vector<std::string> left_out_sentences(const LockMix& mix);

// Times become cycles of a clock of so many MHz. Returns what the trace does not hold, a sentence each; the file is not
// finished by it. The same mix gives the same trace. REQUIRES: there are locks. Errors: trace::WriteError.
std::vector<std::string> write_lock_mix(const LockMix& mix, int mhz, trace::Writer& out);

}  // namespace linebounce::sim
