// A table of measurements of one cache line, and the simulated line to compare it with: [[table]] of an experiment.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/point/paper_row.hpp"
#include "workloads/program/parameters.hpp"

namespace linebounce::sim {

// The remote shares that one would guess from the nodes that share the line: a node has none, half or all of another's
// samples.
inline constexpr std::array kTrivialShares = {0.0, 33.3, 50.0, 66.7, 100.0};

using namespace workloads;

// Samples of one field in one function by one kind of access, over all instructions.
struct MeasuredRow {
  std::string key;        // "schedule.lock": unique in its table; lower case, legal in a metric's name
  std::string structure;  // the field's structure: the table's, or a neighbour's on the same line
  std::string function, field, access;
  std::int64_t offset = 0;  // in the line, in bytes
  std::int64_t samples = 0;
  double remote_pct = 0;  // share of samples whose requester is on another node than the line's home
  PaperKind kind = PaperKind::predicted;
};

// Where the experiment names things that may not exist, as "FILE:LINE:COLUMN".
struct MeasuredTablePlaces {
  std::string structure, field;
};

struct MeasuredTable {
  std::string id;                            // "ols2007.fig3"
  std::string file;                          // as named in the experiment; a path is absolute
  std::string structure, field;              // the field that identifies the line
  std::optional<std::int64_t> home;          // compares only lines whose home is this node, which is the measured line's home
  std::map<std::string, ParameterValue> at;  // selects the point whose run is compared with the rows
  std::int64_t min_samples = 0;              // rows with at least this many samples are scored
  // Tolerance of a scored row's remote share, in percentage points; none: rows are not scored.
  std::optional<double> tolerance_abs;
  PaperKind kind = PaperKind::predicted;  // kind of the rows that no list names
  std::string source;
  std::vector<MeasuredRow> rows;  // by offset, then in the file's order
  MeasuredTablePlaces places;

  [[nodiscard]] bool is_scored(const MeasuredRow& row) const { return row.samples >= min_samples; }

  // The prefix of its metrics, "table.ols2007.fig3".
  [[nodiscard]] std::string metric() const { return "table." + id; }
};

// Rows with fewer samples are left out of orders.
constexpr std::int64_t kLeastRankedSamples = 10;

}  // namespace linebounce::sim
