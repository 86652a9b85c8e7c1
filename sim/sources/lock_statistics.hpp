// Statistics of a kernel's locks, as /proc/lock_stat and `perf lock` print them: sums and means, no operations.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace linebounce::sim {

// Times of an event, in microseconds.
struct LockTimes {
  double total_us = 0;
  std::optional<double> longest_us;  // none: not stated
};

// A place of waiting, or of the hold that was waited for.
struct LockSite {
  std::string function;
  std::uint64_t waits = 0;
};

struct LockStatistics {
  std::string name;          // a class of locks, or (perf lock contention) a function that took one
  std::string kind;          // "spinlock", "rwsem:W"; empty: not stated
  bool has_readers = false;  // lock_stat: the lock also has readers, and this is one of two rows, by kind
  std::uint64_t waits = 0;   // acquisitions that waited
  LockTimes wait;
  std::optional<std::uint64_t> acquisitions;  // including those that did not wait; none: not stated
  std::optional<LockTimes> hold;
  std::vector<LockSite> waited_in, held_in;  // at most four each
};

struct LockStatisticsFile {
  std::string tool;                   // "lock_stat", "perf lock contention", "perf lock report"
  std::string what;                   // what the names are: "lock", "caller"; with perf's options "comm", "symbol", "cgroup"
  std::vector<LockStatistics> locks;  // most waiting first
};

// "mmap_lock (readers)".
std::string shown_name(const LockStatistics& lock);

// nullopt if the first lines show that it is neither. Errors: trace::TraceError with the line.
std::optional<LockStatisticsFile> read_lock_statistics(const std::filesystem::path& file);

}  // namespace linebounce::sim
