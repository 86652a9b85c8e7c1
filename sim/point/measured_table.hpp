// A table that somebody has measured of one cache line, with what a simulated line is held against: [[table]] of an experiment.
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

// Remote shares that a reader would guess who knows only who shares the line: a node has none, half or all of what another has.
inline constexpr std::array kTrivialShares = {0.0, 33.3, 50.0, 66.7, 100.0};

using namespace workloads;

// Samples of one field in one function by one kind of access, all instructions together.
struct MeasuredRow {
  std::string key;        // "schedule.lock": unique in its table; lower case, safe in the name of a metric
  std::string structure;  // whose field it is: the table's, or a neighbour's on the same line
  std::string function, field, access;
  std::int64_t offset = 0;  // in the line, bytes
  std::int64_t samples = 0;
  double remote_pct = 0;  // of the samples: requester's node is not the line's home
  PaperKind kind = PaperKind::predicted;
};

// Where the experiment names what it may name wrongly: "FILE:LINE:COLUMN".
struct MeasuredTablePlaces {
  std::string structure, field;
};

struct MeasuredTable {
  std::string id;                            // "ols2007.fig3"
  std::string file;                          // as the experiment names it; a path is absolute
  std::string structure, field;              // the line that this field lies on
  std::optional<std::int64_t> home;          // only lines whose home is this node, as the measured one's was
  std::map<std::string, ParameterValue> at;  // the point whose run its rows are held against
  std::int64_t min_samples = 0;              // a row with as many is scored
  std::optional<double> tolerance_abs;       // of a scored row's remote share, in points; none: rows are no paper rows
  PaperKind kind = PaperKind::predicted;     // of rows that are not named as another
  std::string source;
  std::vector<MeasuredRow> rows;  // by offset, then as the file has them
  MeasuredTablePlaces places;

  [[nodiscard]] bool is_scored(const MeasuredRow& row) const { return row.samples >= min_samples; }

  // "table.ols2007.fig3", which its metrics begin with.
  [[nodiscard]] std::string metric() const { return "table." + id; }
};

// Rows with fewer samples have no place in an order.
constexpr std::int64_t kLeastRankedSamples = 10;

}  // namespace linebounce::sim
