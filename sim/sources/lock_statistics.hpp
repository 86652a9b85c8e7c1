// Statistics of a kernel's locks, as /proc/lock_stat and `perf lock` print them: sums and means, no operations.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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
  std::string tool;                   // "lock_stat", "perf lock contention", "perf lock report"
  std::string what;                   // the names are of: "lock", "caller"; with perf's options "comm", "symbol", "cgroup"
  std::vector<LockStatistics> locks;  // most waiting first
};

// "mmap_lock (readers)".
std::string shown_name(const LockStatistics& lock);

// nullopt: it is neither, by its first lines. Errors: trace::TraceError with the line.
std::optional<LockStatisticsFile> read_lock_statistics(const std::filesystem::path& file);

}  // namespace linebounce::sim
