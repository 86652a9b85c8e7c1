// The result of one simulated run: what the results files will contain (docs/results.md).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/core/cpu_counters.hpp"
#include "models/waits.hpp"
#include "sim/point/cpu_set.hpp"

namespace linebounce::sim {

struct Metric {
  std::variant<std::int64_t, double> value;  // an integer is a count and stays exact
  std::string unit;                          // "ns", "", "%"
};

struct LatencyRow {                 // one bin of latency.csv
  std::string kind;                 // "kernel" or "user"
  std::string source;               // "l2", "local_memory", "local_c2c", "upgrade", ...
  std::int64_t latency_cycles = 0;  // in cycles of the requesting CPU's clock
  double latency_ns = 0;
  std::int64_t count = 0;
};

// Mean waiting times of a miss, by Resource. The rest of the latency is travel.
struct MeanWaits {
  std::array<double, kResources> ns{};

  [[nodiscard]] double total() const {
    double sum = 0;
    for (const double wait : ns) sum += wait;
    return sum;
  }
};

struct LineRow {  // one row of lines.csv
  std::string structure, object;
  std::int64_t line = 0, offset = 0;
  std::string field, function, access;
  std::int64_t home = 0;
  std::string source;
  std::int64_t count = 0;
  double remote_pct = 0, latency_ns_mean = 0;
  CpuSet cpus = {};  // CPUs that missed
  // None in another tool's measurements, which don't divide latency into waits and travel.
  std::optional<MeanWaits> waits = MeanWaits();
};

struct LockRow {  // a row of locks.csv, with lockmeter's columns
  std::string lock, call_site;
  double util_pct = 0, con_pct = 0, hold_mean_us = 0, hold_max_us = 0, wait_mean_us = 0, wait_max_us = 0, cpu_pct = 0;
  std::int64_t total = 0, nowait = 0, spin = 0, rjct = 0;
  // Misses on the lock's own words and objects. Set only in the lock's row without a call site.
  std::int64_t misses = 0;
  double miss_ns_mean = 0;
  MeanWaits waits = {};
};

struct CpiRow {  // a row of cpi.csv: cycles of one CPU in one function
  std::int64_t cpu = 0;
  std::string function;
  std::int64_t instructions = 0;
  std::array<std::int64_t, kTimeParts> parts{};  // in cycles of the CPU's clock; indexed by TimePart

  [[nodiscard]] std::int64_t cycles() const {
    std::int64_t sum = 0;
    for (const std::int64_t cycles : parts) sum += cycles;
    return sum;
  }
};

struct MatrixRow {  // one row of matrix.csv
  std::int64_t from_cpu = 0, to_cpu = 0, home_node = 0;
  std::string state;
  double latency_ns = 0;
};

struct SeriesRow {  // one row of series.csv
  double time_us = 0;
  std::string name;
  double value = 0;
};

struct TransitionRow {  // one row of transitions.csv
  std::string controller, state, event;
  std::int64_t count = 0;
};

struct PointData {
  std::map<std::string, Metric> metrics;
  std::vector<LatencyRow> latency;  // sorted by kind, source, latency
  std::vector<LineRow> lines;       // sorted by all its key columns
  std::vector<LockRow> locks;
  std::vector<CpiRow> cpi;                 // sorted by CPU, then by function
  std::vector<MatrixRow> matrix;           // only of core-to-core runs; in the workload's order
  std::vector<SeriesRow> series;           // of the first seed's run; sorted by name in the workload's order, then by time
  std::vector<TransitionRow> transitions;  // rows that occurred; in the protocol table's order
  std::string timeline;                    // content of timeline.csv for one run, which is never merged; empty unless requested
  std::int64_t references = 0;             // simulated memory operations, for the manifest
  std::int64_t simulated_ns = 0;
};

}  // namespace linebounce::sim
