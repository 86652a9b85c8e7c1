// Makes a trace from the sums of lock_stat or of another tool that counts and times all acquisitions. CPUs alternately compute
// and hold one of the locks, with the measured rates and hold times. If a class were a single lock, and CPUs arrived at random
// and independently, queueing theory would give the waiting. A class whose measured waiting differs violates these assumptions.
// It is left out, because no replay of the mix could predict what another lock would cost there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forms/lock_statistics.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

struct MeasuredTime {
  double seconds = 0;
  int cpus = 0;
  std::string tool = "lock_stat";  // which measured
};

struct MixedLock {
  std::string name;
  double per_s = 0, hold_us = 0;     // as measured
  double busy_pct = 0, wait_us = 0;  // percentage of acquisitions that waited; the mean wait of all acquisitions
  double expected_busy_pct = 0, expected_wait_us = 0;
  std::int64_t acquisitions = 0;  // in the trace
};

struct LeftOutLock {
  std::string name, why;
};

struct LockMix {
  MeasuredTime measured;
  std::vector<MixedLock> locks;
  std::vector<LeftOutLock> left_out;  // only locks with waiters
  double between_us = 0;              // mean time that a CPU computes before an acquisition
};

// REQUIRES: each lock has acquisitions and hold times.
LockMix lock_mix(const std::vector<LockStatistics>& locks, const MeasuredTime& measured);

// A sentence for each left-out lock that has much waiting ("jiffies_lock is left out: it ..."), and one with the number of
// the others.
std::vector<std::string> left_out_sentences(const LockMix& mix);

// Writes the mix as a trace, with times in cycles of `mhz` MHz. Returns a sentence for each aspect of the real program that
// the trace lacks. The same mix gives the same trace. The caller must finish the file. REQUIRES: there are locks. Errors:
// trace::WriteError.
std::vector<std::string> write_lock_mix(const LockMix& mix, int mhz, trace::Writer& out);

}  // namespace linebounce::sim
