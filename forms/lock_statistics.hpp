// Statistics of kernel locks, as /proc/lock_stat, `perf lock`, klockstat and bpftrace print them. They consist of sums and
// means, not of single operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forms/import_losses.hpp"

namespace linebounce::sim {

// Times of a kind of event (waits or holds), in microseconds.
struct LockTimes {
  double total_us = 0;
  std::optional<double> longest_us;  // nullopt: not stated
};

constexpr std::size_t kMostSites = 4;  // of one lock

// A function that waited for the lock, or that held it while others waited.
struct LockSite {
  std::string function;
  std::uint64_t waits = 0;
};

struct LockStatistics {
  std::string name;          // a class of locks; for perf lock contention, a function that acquired a lock
  std::string kind;          // "spinlock", "rwsem:W"; empty: not stated
  bool has_readers = false;  // for lock_stat: the class has two rows, one for readers and one for writers
  std::uint64_t waits = 0;   // acquisitions that had to wait
  LockTimes wait;
  std::optional<std::uint64_t> acquisitions;  // all acquisitions, with and without waiting; nullopt: not stated
  std::optional<LockTimes> hold;
  std::vector<LockSite> waited_in, held_in;  // at most kMostSites functions each
};

struct LockStatisticsFile {
  std::string tool;  // "lock_stat", "perf lock contention", "perf lock report", "klockstat", "bpftrace"
  std::string what;  // what `name` denotes: "lock", "caller", "key"; with options of perf "comm", "symbol", "cgroup"
  std::vector<LockStatistics> locks;  // longest total waiting first
  Losses losses = {};
  bool all_timed = false;  // true: `waits` counts all acquisitions, even those without waiting
  // Why no trace can be made from these statistics, as a clause. Empty if each lock has acquisitions and hold times, so that
  // one can.
  std::string why_no_trace = {};
};

// For example "mmap_lock (readers)".
std::string shown_name(const LockStatistics& lock);

// Merges rows with the same name and kind. Tools print several rows for one caller if the caller itself has several callers.
std::vector<LockStatistics> of_one_name_together(const std::vector<LockStatistics>& rows);
void sort_hottest_first(std::vector<LockStatistics>& locks);

// ---- parsing parts of lines ----

// Removes the last word from the text, and returns it.
std::string_view take_last_word(std::string_view& text);
// Converts a time such as "1.65" and "ms". Units: ns, us, ms, s, m (minutes), h.
std::optional<double> microseconds(std::string_view number, std::string_view unit);

}  // namespace linebounce::sim
