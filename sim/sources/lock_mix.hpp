// A trace of the mix that lock_stat has measured: CPUs that compute, take one of the locks and hold it, again and again, each
// as often and as long as measured. That assumes one lock for each class, and independent random arrivals of CPUs; the waiting
// then follows from queueing theory. A class whose measured waiting differs is left out, because the assumption is wrong for
// it: sums can't tell what another lock in its place would cost.
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
  double per_s = 0, hold_us = 0;     // both as measured
  double busy_pct = 0, wait_us = 0;  // acquisitions that waited, in percent, and their mean wait
  double expected_busy_pct = 0, expected_wait_us = 0;
  std::int64_t acquisitions = 0;  // in the trace
};

struct LeftOutLock {
  std::string name, why;
};

struct LockMix {
  MeasuredTime measured;
  std::vector<MixedLock> locks;
  std::vector<LeftOutLock> left_out;  // only locks that some CPU waited for
  double between_us = 0;              // mean computation of a CPU before each acquisition
};

// REQUIRES: each lock has acquisitions and hold times.
LockMix lock_mix(const std::vector<LockStatistics>& locks, const MeasuredTime& measured);

// For the locks with the most waiting: "jiffies_lock is left out: it ..."; one more sentence counts the rest.
std::vector<std::string> left_out_sentences(const LockMix& mix);

// Converts times to cycles of a clock of `mhz` MHz. Returns what the trace does not hold, a sentence each. The caller must
// finish the file. The same mix gives the same trace. REQUIRES: there are locks. Errors: trace::WriteError.
std::vector<std::string> write_lock_mix(const LockMix& mix, int mhz, trace::Writer& out);

}  // namespace linebounce::sim
