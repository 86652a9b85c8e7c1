// [[table]] of an experiment: measurements of one cache line, and how to choose the simulated line to compare.
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

// Remote shares that one could guess without a simulation, from how the line's users are spread over nodes.
inline constexpr std::array kTrivialShares = {0.0, 33.3, 50.0, 66.7, 100.0};

using namespace workloads;

// Samples of one kind of access to one field by one function; a function's instructions are added up.
struct MeasuredRow {
  std::string key;        // "schedule.lock": unique in its table; lower case, legal in a metric's name
  std::string structure;  // the field's structure: the table's own, or another one on the same line
  std::string function, field, access;
  std::int64_t offset = 0;  // offset in the line, in bytes
  std::int64_t samples = 0;
  double remote_pct = 0;  // percentage of samples whose requester is not on the line's home node
  PaperKind kind = PaperKind::predicted;
};

// Where the experiment names a structure or field, as "FILE:LINE:COLUMN", for error messages.
struct MeasuredTablePlaces {
  std::string structure, field;
};

struct MeasuredTable {
  std::string id;                            // "ols2007.fig3"
  std::string file;                          // file name as in the experiment; a path is absolute
  std::string structure, field;              // the field that identifies the line
  std::optional<std::int64_t> home;          // compare only with lines whose home is this node; none: with all
  std::map<std::string, ParameterValue> at;  // settings that select the point to compare with
  std::int64_t min_samples = 0;              // rows with fewer samples are not scored
  // Tolerance of a row's remote share, in percentage points. None: the table's rows are not scored.
  std::optional<double> tolerance_abs;
  PaperKind kind = PaperKind::predicted;  // kind of all rows that no list in the table names
  std::string source;
  std::vector<MeasuredRow> rows;  // sorted by offset, then in the file's order
  MeasuredTablePlaces places;

  [[nodiscard]] bool is_scored(const MeasuredRow& row) const { return row.samples >= min_samples; }

  // The prefix of the table's metrics: "table.ols2007.fig3".
  [[nodiscard]] std::string metric() const { return "table." + id; }
};

// Rows with fewer samples don't take part in rank correlations.
constexpr std::int64_t kLeastRankedSamples = 10;

}  // namespace linebounce::sim
