// Groups the rows of lines.csv by cache line: which lines miss, and for each line, which functions access which fields.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/point/point_data.hpp"

namespace linebounce::sim {

// Sums over some rows of lines.csv.
struct MissSum {
  std::int64_t count = 0;
  double remote = 0;                   // misses whose requester is not on the line's home node
  double latency_ns = 0;               // over all misses
  std::int64_t loads = 0, stores = 0;  // an atomic operation counts as a store
  std::int64_t local_hitm = 0, remote_hitm = 0;
  CpuSet cpus = {};
  std::array<double, kResources> waits_ns{};  // waiting times within latency_ns, by Resource; the rest is travel
  bool is_split = true;                       // true if waits_ns is known; latency_ns then covers stores, too

  void add(const LineRow& row);
  // The number of misses that latency_ns covers.
  [[nodiscard]] std::int64_t timed() const { return is_split ? count : loads; }
  [[nodiscard]] double remote_pct() const { return count > 0 ? 100 * remote / static_cast<double>(count) : 0; }
  [[nodiscard]] double latency_share_pct(const MissSum& all) const {
    return all.latency_ns > 0 ? 100 * latency_ns / all.latency_ns : 0;
  }
  [[nodiscard]] double queueing_ns() const;
  [[nodiscard]] double queueing_pct() const { return latency_ns > 0 ? 100 * queueing_ns() / latency_ns : 0; }
  [[nodiscard]] double latency_ns_mean() const { return timed() > 0 ? latency_ns / static_cast<double>(timed()) : 0; }
};

// One kind of access to one field of a line by one function.
struct LineUse {
  std::int64_t offset = 0;  // offset in the line, in bytes
  std::string field, function, access;
  MissSum misses;
};

struct Line {
  std::string structure;
  std::string object;  // empty: sum over all objects of the structure
  std::int64_t number = 0;
  std::optional<std::int64_t> home;  // none: parts of the line have different homes
  MissSum misses;
  std::vector<LineUse> uses;     // by offset, then by number of misses
  std::int64_t code_places = 0;  // number of functions that miss on the line
};

struct LineChoice {
  bool as_sampled = false;  // count only rows for which is_sampled() is true
  bool sum = false;         // treat lines with the same number in all objects of a structure as one line
};

struct LineSet {
  std::vector<Line> lines;  // by latency, the largest first; imported lines in their report's order
  MissSum all;              // including those on arrays
  MissSum arrays;           // misses on arrays, which have no separate lines; not in `lines`
};

// Whether an Itanium 2's event address registers would sample this miss (OLS 2007, section 1.1): a load or atomic operation
// that another cache served. Stores and upgrades are not sampled.
bool is_sampled(const LineRow& row);

LineSet lines_of(const std::vector<LineRow>& rows, const LineChoice& choice);

// The point whose lines have the largest latency in total; 0 if none has any.
int costliest_point(const std::map<int, std::vector<LineRow>>& points);

}  // namespace linebounce::sim
