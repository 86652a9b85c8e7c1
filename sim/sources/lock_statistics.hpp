// Statistics of a kernel's locks, as /proc/lock_stat, `perf lock` and klockstat print them: sums and means, no operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sources/losses.hpp"

namespace linebounce::sim {

// Of an event that was timed; microseconds.
struct LockTimes {
  double total_us = 0;
  std::optional<double> longest_us;  // none: not told
};

// Where some of its waiting was, or what had the lock meanwhile.
struct LockSite {
  std::string function;
  std::uint64_t waits = 0;
};

struct LockStatistics {
  std::string name;          // a class of locks, or (perf lock contention) a function that took one
  std::string kind;          // "spinlock", "rwsem:W"; empty: not told
  bool has_readers = false;  // lock_stat: it is had shared, too, and this is a row of two, by kind
  std::uint64_t waits = 0;   // acquisitions that waited
  LockTimes wait;
  std::optional<std::uint64_t> acquisitions;  // with those that did not wait; none: not told
  std::optional<LockTimes> hold;
  std::vector<LockSite> waited_in, held_in;  // at most four each
};

struct LockStatisticsFile {
  std::string tool;                   // "lock_stat", "perf lock contention", "perf lock report", "klockstat"
  std::string what;                   // the names are of: "lock", "caller"; with perf's options "comm", "symbol", "cgroup"
  std::vector<LockStatistics> locks;  // most waiting first
  Losses losses = {};
  bool all_timed = false;  // its waits are all acquisitions, also those that did not wait
  // Why no trace can be made of it, a clause; empty: one can, for each has acquisitions and holds.
  std::string why_no_trace = {};
};

// "mmap_lock (readers)".
std::string shown_name(const LockStatistics& lock);

// Tools may print several rows of one name, such as a caller's with different callers of its own: one with their sums.
std::vector<LockStatistics> of_one_name_together(const std::vector<LockStatistics>& rows);
void sort_hottest_first(std::vector<LockStatistics>& locks);

// ---- what their texts consist of ----

// Not negative, without an exponent.
std::optional<double> real(std::string_view text);
// The last word, which is taken off.
std::string_view take_last_word(std::string_view& text);
// "1.65" and "ms"; units are ns, us, ms, s, m (minutes) and h.
std::optional<double> microseconds(std::string_view number, std::string_view unit);

}  // namespace linebounce::sim
