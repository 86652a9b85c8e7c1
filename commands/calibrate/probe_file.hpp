// Reads what linebounce-probe measured on a machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "commands/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

// Quartiles over repetitions; absent if nothing could be measured.
struct Quartiles {
  double median = 0, lower = 0, upper = 0;
  std::int64_t repeats = 0;
};

// The mean of several places' medians and quartiles.
Quartiles mean_quartiles(const std::vector<Quartiles>& all);

struct ProbedCache {
  int level = 0;
  int size_kib = 0, ways = 0, line_bytes = 0;
  int shared_by = 1;  // CPUs
};

struct ProbedRing {
  std::string level;  // "L2", "memory"; empty: between two levels
  int size_kib = 0;
  int cpu_node = 0, memory_node = 0;
  Quartiles ns;
};

struct ProbedHandOff {
  int from = 0, to = 0;  // CPUs of the matrix
  int home_node = 0;     // the operating system's number
  std::string state;     // "modified", "exclusive", "shared"
  std::string access;    // "load", "fetch_add"
  Quartiles ns;
};

struct ProbedBandwidth {
  int cpus = 0;
  Quartiles mb_per_s;
};

struct ProbedLock {
  int cpus = 0;
  Quartiles ns;  // time from one owner of the lock to the next
};

// A measurement of several CPUs, or sibling threads, that access one line. The workload contended_line simulates the same
// operations.
struct ProbedWaiting {
  std::string operation;  // "shared_store", "fetch_add"
  std::vector<int> cpus;  // numbered as in the matrix; the line's home is the first one's node
  int between_cycles = 0;
  Quartiles ns;
};

struct ProbeFile {
  std::string model;
  double clock_mhz = 0;
  std::vector<std::string> warnings;
  std::vector<int> cpus;  // by the matrix's CPUs: the operating system's numbers
  std::vector<int> node;  // by the matrix's CPUs
  std::vector<ProbedCache> caches;
  LatencyMatrix matrix;
  std::int64_t pairs = 0, pairs_measured = 0;
  std::vector<ProbedRing> rings;
  std::vector<ProbedHandOff> hand_offs;
  std::map<std::string, Quartiles> atomics;  // ns, by operation: "exchange", "fence"
  std::vector<ProbedBandwidth> bandwidths;
  std::string lock_kind;
  std::vector<ProbedLock> locks;
  std::vector<ProbedWaiting> waiting;  // empty if the file is from an older linebounce-probe
};

// True if the text is a file of linebounce-probe, of any version, and not a matrix in CSV.
bool is_probe_file(const std::string& text);

// Errors: ConfigError "FILE:LINE:COLUMN: ..." for invalid TOML, another version, and missing, mistyped or impossible values;
// "FILE: ..." for a matrix in another unit.
ProbeFile parse_probe_file(const std::string& text, const std::string& file);

}  // namespace linebounce::sim
