// How a simulated result is held against a paper's figure: the one place that scores [[paper]] rows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/point/paper_row.hpp"
#include "sim/results/merge_seeds.hpp"
#include "sim/results/metrics.hpp"

namespace linebounce::sim {

// Whether more is better: the row's own word, else what is declared of its metric.
Better direction_of(const PaperRow& row);

struct ReportedPoint {
  std::vector<std::pair<std::string, ConfigValue>> at;
  std::map<std::string, ReportedMetric> metrics;
  bool finished = true;
  bool failed = false;  // it was run, and ended in an error
};

// What was simulated of a row that is relative to another point.
struct SimulatedChange {
  double share = 0;                // of the base's value
  std::optional<double> ci95;      // half the width of its 95 % interval; with two seeds or more on both sides
  std::optional<ChangeSign> sign;  // none without a direction in which the metric is better
};

struct PaperResult {
  PaperRow row;
  std::optional<double> simulated;            // a single figure
  std::vector<std::optional<double>> series;  // of a shape or an order: along `over`, or one for each metric
  std::string unit;
  std::optional<SimulatedChange> change;
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

// Whether a figure is near enough to the row's own; empty for a row without a tolerance.
std::optional<bool> within_tolerance(const PaperRow& row, double figure);

// The sign that was published: the row's own, else that of its figure. Empty for a row that is no change, or one of a metric
// of which neither more nor less is better.
std::optional<ChangeSign> published_sign(const PaperRow& row);

std::string to_string(PaperKind kind);
std::string to_string(Shape shape);

}  // namespace linebounce::sim
