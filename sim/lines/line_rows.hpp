// Cache lines from the rows of lines.csv: which lines miss, and on each of them which fields, in which functions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/point/point_data.hpp"

namespace linebounce::sim {

// Adds up rows of lines.csv.
struct MissSum {
  std::int64_t count = 0;
  double remote = 0;                   // of them: by requesters on other nodes than the line's home
  double latency_ns = 0;               // of all of them
  std::int64_t loads = 0, stores = 0;  // an atomic operation writes: it is a store
  std::int64_t local_hitm = 0, remote_hitm = 0;
  CpuSet cpus = {};
  std::array<double, kResources> waits_ns{};  // of latency_ns, by Resource; the rest is travel

  void add(const LineRow& row);
  [[nodiscard]] double remote_pct() const { return count > 0 ? 100 * remote / static_cast<double>(count) : 0; }
  [[nodiscard]] double latency_share_pct(const MissSum& all) const {
    return all.latency_ns > 0 ? 100 * latency_ns / all.latency_ns : 0;
  }
  [[nodiscard]] double queueing_ns() const;
  [[nodiscard]] double queueing_pct() const { return latency_ns > 0 ? 100 * queueing_ns() / latency_ns : 0; }
  [[nodiscard]] double latency_ns_mean() const { return count > 0 ? latency_ns / static_cast<double>(count) : 0; }
};

// What of a line is used by one function in one way.
struct LineUse {
  std::int64_t offset = 0;  // in the line, bytes
  std::string field, function, access;
  MissSum misses;
};

struct Line {
  std::string structure;
  std::string object;  // empty: all objects of the structure
  std::int64_t number = 0;
  std::optional<std::int64_t> home;  // none: not all of it has one home
  MissSum misses;
  std::vector<LineUse> uses;     // by offset, then those with most misses first
  std::int64_t code_places = 0;  // functions that miss on it
};

struct LineChoice {
  bool as_sampled = false;  // only what is_sampled()
  bool sum = false;         // lines of one number of all objects of a structure are one line
};

struct LineSet {
  std::vector<Line> lines;  // the one with most latency first
  MissSum all;              // with those of arrays
  MissSum arrays;           // on arrays, whose lines are not told apart: none of the lines
};

// What the event address registers of an Itanium 2 sample of cache-to-cache transfers (OLS 2007, section 1.1): loads and atomic
// operations that a cache has served; no stores, no upgrades.
bool is_sampled(const LineRow& row);

LineSet lines_of(const std::vector<LineRow>& rows, const LineChoice& choice);

// The point whose lines have the most latency; 0 if none has any.
int costliest_point(const std::map<int, std::vector<LineRow>>& points);

}  // namespace linebounce::sim
