// Statistics of kernel locks as /proc/lock_stat, `perf lock`, klockstat and bpftrace print them. They contain sums and means,
// but no single operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sources/import_losses.hpp"

namespace linebounce::sim {

// Times of an event, in microseconds.
struct LockTimes {
  double total_us = 0;
  std::optional<double> longest_us;  // nullopt: not stated
};

// A function that waited for the lock, or that held it while others waited.
struct LockSite {
  std::string function;
  std::uint64_t waits = 0;
};

struct LockStatistics {
  std::string name;          // a class of locks, or (perf lock contention) a function that acquired one
  std::string kind;          // "spinlock", "rwsem:W"; empty: not stated
  bool has_readers = false;  // lock_stat: the class also has readers, so it has two rows, one per kind
  std::uint64_t waits = 0;   // acquisitions that had to wait
  LockTimes wait;
  std::optional<std::uint64_t> acquisitions;  // includes those without waiting; nullopt: not stated
  std::optional<LockTimes> hold;
  std::vector<LockSite> waited_in, held_in;  // at most four of each
};

struct LockStatisticsFile {
  std::string tool;  // "lock_stat", "perf lock contention", "perf lock report", "klockstat", "bpftrace"
  std::string what;  // what the names denote: "lock", "caller", "key"; with perf's options "comm", "symbol", "cgroup"
  std::vector<LockStatistics> locks;  // longest total waiting first
  Losses losses = {};
  bool all_timed = false;  // `waits` counts all acquisitions, including those without waiting
  // Why no trace can be made from these statistics, as a clause. Empty if one can be made, because every lock has
  // acquisitions and hold times.
  std::string why_no_trace = {};
};

// For example "mmap_lock (readers)".
std::string shown_name(const LockStatistics& lock);

// Adds up rows of the same name, such as those of one caller with different callers of its own.
std::vector<LockStatistics> of_one_name_together(const std::vector<LockStatistics>& rows);
void sort_hottest_first(std::vector<LockStatistics>& locks);

// ---- parsing parts of these tools' output ----

// Accepts non-negative numbers without an exponent.
std::optional<double> real(std::string_view text);
// Removes the last word from the text and returns it.
std::string_view take_last_word(std::string_view& text);
// Converts "1.65" and "ms". Units: ns, us, ms, s, m (minutes), h.
std::optional<double> microseconds(std::string_view number, std::string_view unit);

}  // namespace linebounce::sim
