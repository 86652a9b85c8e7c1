// Scores [[paper]] rows by comparing simulated results with published figures. No other code does so.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/point/paper_row.hpp"
#include "sim/results/metrics.hpp"
#include "sim/results/reported_point.hpp"

namespace linebounce::sim {

// Whether a larger value is better, as stated in the row, or else in the metric's declaration.
Better direction_of(const PaperRow& row);

// The simulated change, for a row with relative_to.
struct SimulatedChange {
  double share = 0;                // change divided by the base's value
  std::optional<double> ci95;      // half the width of its 95 % interval; needs two seeds or more on both sides
  std::optional<ChangeSign> sign;  // none if neither direction of the metric is better
};

struct PaperResult {
  PaperRow row;
  std::optional<double> simulated;            // the simulated figure, for a row with a single figure
  std::vector<std::optional<double>> series;  // for a shape: values along `over`; for an order: the value of each metric
  std::string unit;
  std::optional<SimulatedChange> change;
  std::optional<double> ratio;  // simulated / paper
  std::optional<bool> ok;       // none: not scored
  std::string problem;          // why there is no simulated figure; empty if there is one
};

// Numbers of the points that a row selects.
struct PaperPoints {
  std::vector<int> at;           // one point; for a shape, several along `over`
  std::vector<int> relative_to;  // the base point of a row with relative_to; else empty
};

// Scores one row. `scored`: false if machine or workload were overridden; the row is then shown without a verdict.
PaperResult evaluate(const PaperRow& row, const PaperPoints& where, const std::vector<ReportedPoint>& points, bool scored);

// Whether a figure is within the row's tolerance; none if the row has none.
std::optional<bool> within_tolerance(const PaperRow& row, double figure);

// The published direction: the row's `sign`, or that of its figure. None if the row is not a change, or if neither direction of
// its metric is better.
std::optional<ChangeSign> published_sign(const PaperRow& row);

std::string to_string(PaperKind kind);
std::string to_string(Shape shape);

}  // namespace linebounce::sim
