// How a simulated result is held against a paper's figure: the one place that scores [[paper]] rows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/point/paper_row.hpp"
#include "sim/results/merge_seeds.hpp"

namespace linebounce::sim {

struct ReportedPoint {
  std::vector<std::pair<std::string, ConfigValue>> at;
  std::map<std::string, ReportedMetric> metrics;
  bool finished = true;
  bool failed = false;  // it was run, and ended in an error
};

struct PaperResult {
  PaperRow row;
  std::optional<double> simulated;            // a single figure
  std::vector<std::optional<double>> series;  // of a shape or an order: along `over`, or one for each metric
  std::string unit;
  std::optional<double> ratio;  // simulated / paper
  std::optional<bool> ok;       // empty: not scored
  std::string problem;          // why there is no simulated value; empty if there is one
};

// Which points a row speaks of, by their numbers.
struct PaperPoints {
  std::vector<int> at;           // one; along `over` for a shape
  std::vector<int> relative_to;  // one, if the row has relative_to
};

// Scores one row. `scored` is false when the machine or the workload was overridden: the row is then shown but not judged.
PaperResult evaluate(const PaperRow& row, const PaperPoints& where, const std::vector<ReportedPoint>& points, bool scored);

std::string to_string(PaperKind kind);
std::string to_string(Shape shape);

}  // namespace linebounce::sim
