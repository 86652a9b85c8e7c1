// Cache lines from the rows of lines.csv: which lines miss, and on each of them, which fields in which functions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/point/point_data.hpp"

namespace linebounce::sim {

// Sums over rows of lines.csv.
struct MissSum {
  std::int64_t count = 0;
  double remote = 0;                   // misses by requesters on other nodes than the line's home
  double latency_ns = 0;               // over all misses
  std::int64_t loads = 0, stores = 0;  // an atomic operation counts as a store
  std::int64_t local_hitm = 0, remote_hitm = 0;
  CpuSet cpus = {};
  std::array<double, kResources> waits_ns{};  // parts of latency_ns, by Resource; the rest is travel
  bool is_split = true;                       // whether waits_ns is known, and latency_ns that of stores, too

  void add(const LineRow& row);
  // How many misses latency_ns is of.
  [[nodiscard]] std::int64_t timed() const { return is_split ? count : loads; }
  [[nodiscard]] double remote_pct() const { return count > 0 ? 100 * remote / static_cast<double>(count) : 0; }
  [[nodiscard]] double latency_share_pct(const MissSum& all) const {
    return all.latency_ns > 0 ? 100 * latency_ns / all.latency_ns : 0;
  }
  [[nodiscard]] double queueing_ns() const;
  [[nodiscard]] double queueing_pct() const { return latency_ns > 0 ? 100 * queueing_ns() / latency_ns : 0; }
  [[nodiscard]] double latency_ns_mean() const { return timed() > 0 ? latency_ns / static_cast<double>(timed()) : 0; }
};

// One function's use of a line, in one way.
struct LineUse {
  std::int64_t offset = 0;  // offset in the line, in bytes
  std::string field, function, access;
  MissSum misses;
};

struct Line {
  std::string structure;
  std::string object;  // empty: all objects of the structure
  std::int64_t number = 0;
  std::optional<std::int64_t> home;  // none: its parts have different homes
  MissSum misses;
  std::vector<LineUse> uses;     // by offset, then by number of misses
  std::int64_t code_places = 0;  // number of functions that miss on it
};

struct LineChoice {
  bool as_sampled = false;  // only rows for which is_sampled() is true
  bool sum = false;         // count lines with the same number, of all objects of a structure, as one line
};

struct LineSet {
  std::vector<Line> lines;  // the line with the most latency first; imported lines in their report's order
  MissSum all;              // including those on arrays
  MissSum arrays;           // misses on arrays, whose lines are not told apart; in none of the lines
};

// Whether the event address registers of an Itanium 2 sample such a cache-to-cache transfer (OLS 2007, section 1.1): loads and
// atomic operations that a cache has served; no stores, no upgrades.
bool is_sampled(const LineRow& row);

LineSet lines_of(const std::vector<LineRow>& rows, const LineChoice& choice);

// The point whose lines have the most latency; 0 if none has any.
int costliest_point(const std::map<int, std::vector<LineRow>>& points);

}  // namespace linebounce::sim
