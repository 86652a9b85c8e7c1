// Compares simulated results with papers' figures: the only place that scores [[paper]] rows.
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

// Whether a larger value is better: as the row says, else as the metric's declaration says.
Better direction_of(const PaperRow& row);

struct ReportedPoint {
  std::vector<std::pair<std::string, ConfigValue>> at;
  std::map<std::string, ReportedMetric> metrics;
  bool finished = true;
  bool failed = false;  // true if the point was run and failed
};

// The simulated change, for a row that is relative to another point.
struct SimulatedChange {
  double share = 0;                // as a share of the base's value
  std::optional<double> ci95;      // half the width of its 95 % interval; needs two seeds or more on both sides
  std::optional<ChangeSign> sign;  // none if the metric has no better direction
};

struct PaperResult {
  PaperRow row;
  std::optional<double> simulated;            // for a row with a single figure
  std::vector<std::optional<double>> series;  // for a shape or an order: values along `over`, or one for each metric
  std::string unit;
  std::optional<SimulatedChange> change;
  std::optional<double> ratio;  // simulated / paper
  std::optional<bool> ok;       // none: not scored
  std::string problem;          // why there is no simulated value; empty if there is one
};

// The points that a row selects, by number.
struct PaperPoints {
  std::vector<int> at;           // one point, or several along `over` for a shape
  std::vector<int> relative_to;  // one point, if the row has relative_to
};

// Scores one row. `scored`: false if machine or workload were overridden; the row is then shown but not judged.
PaperResult evaluate(const PaperRow& row, const PaperPoints& where, const std::vector<ReportedPoint>& points, bool scored);

// True if a figure is within the row's tolerance; none if the row has no tolerance.
std::optional<bool> within_tolerance(const PaperRow& row, double figure);

// The published sign: the row's own, else that of its figure. None if the row is not a change, or if no direction of its
// metric is better.
std::optional<ChangeSign> published_sign(const PaperRow& row);

std::string to_string(PaperKind kind);
std::string to_string(Shape shape);

}  // namespace linebounce::sim
