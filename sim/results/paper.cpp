#include "sim/results/paper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/ordinal.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

// A metric's value at a point, rounded as in the results file. Sets the result's unit, or its problem if there is no value.
std::optional<double> look_up(const std::string& metric, const ReportedPoint& point, PaperResult& result) {
  const auto found = point.metrics.find(metric);
  if (found != point.metrics.end()) {
    result.unit = found->second.unit;
    return as_double(found->second.value);
  }
  result.problem = point.finished ? "the run has no metric " + metric : "its point has not finished";
  return std::nullopt;
}

// True if the values rise. Without a tolerance, `after` must be larger; with one, it may be smaller by that share of `before`.
bool rises(double before, double after, double tolerance) {
  return tolerance > 0 ? after >= before - tolerance * std::abs(before) : after > before;
}

bool has_shape(const PaperRow& row, const std::vector<double>& values) {
  const double tolerance = row.tolerance.value_or(0);
  if (row.shape == Shape::flat) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const bool within = *low > 0 && *high / *low <= 1 + tolerance;
    return within || *high == *low || (row.tolerance_abs && *high - *low <= *row.tolerance_abs);
  }
  for (std::size_t i = 1; i < values.size(); ++i) {
    const bool falling = row.shape == Shape::decreasing;
    if (!rises(falling ? values[i] : values[i - 1], falling ? values[i - 1] : values[i], tolerance)) return false;
  }
  return true;
}

ChangeSign sign_of(double share, double visible, Better better) {
  if (std::abs(share) < visible) return ChangeSign::none;
  return (share > 0) == (better == Better::higher) ? ChangeSign::gain : ChangeSign::loss;
}

// Interval of the ratio of two independent means. With equal seeds the runs are not independent, so the interval is wider than
// necessary.
std::optional<double> ci95_of_change(const ReportedMetric& changed, const ReportedMetric& base) {
  if (!changed.ci95 || !base.ci95) return std::nullopt;
  const double of_base = as_double(base.value);
  const double ratio = as_double(changed.value) / of_base;
  const double from_changed = *changed.ci95 / of_base;
  const double from_base = ratio * *base.ci95 / of_base;
  return rounded(std::sqrt(from_changed * from_changed + from_base * from_base));
}

// REQUIRES: both points have the metric, and the base's value is not 0.
SimulatedChange change_of(const PaperRow& row, const ReportedPoint& changed, const ReportedPoint& base) {
  const ReportedMetric& before = base.metrics.at(row.metrics.front());
  const ReportedMetric& after = changed.metrics.at(row.metrics.front());
  SimulatedChange change;
  change.share = rounded(as_double(after.value) / as_double(before.value) - 1);
  change.ci95 = ci95_of_change(after, before);
  const Better better = direction_of(row);
  if (better == Better::neither) return change;
  const bool by_chance = change.ci95 && std::abs(change.share) <= *change.ci95;
  change.sign = by_chance ? ChangeSign::none : sign_of(change.share, row.visible, better);
  return change;
}

void evaluate_series(PaperResult& result, const PaperPoints& where, const std::vector<ReportedPoint>& points) {
  const PaperRow& row = result.row;
  for (const std::string& metric : row.metrics) {
    for (const int number : where.at) result.series.push_back(look_up(metric, points[number], result));
  }
  std::vector<double> values;
  for (const auto& value : result.series) {
    if (value) values.push_back(*value);
  }
  if (values.size() == result.series.size()) result.ok = has_shape(row, values);
}

void evaluate_value(PaperResult& result, const PaperPoints& where, const std::vector<ReportedPoint>& points) {
  const PaperRow& row = result.row;
  const ReportedPoint& point = points[where.at.front()];
  const auto found = look_up(row.metrics.front(), point, result);
  if (!found) return;
  double simulated = *found;
  if (!row.of.empty()) {
    const auto whole = look_up(row.of, point, result);
    if (whole == 0) result.problem = row.of + " is 0";
    result.unit = "";
    if (whole.value_or(0) == 0) return;
    simulated /= *whole;
  }
  if (row.relative_to) {
    const ReportedPoint& base_point = points[where.relative_to.front()];
    const auto base = look_up(row.metrics.front(), base_point, result);
    if (!base) return;
    if (*base != 0) result.change = change_of(row, point, base_point);
    if (row.difference) {
      simulated -= *base;
    } else if (*base == 0) {
      result.problem = "the value that it is relative to is 0";
      return;
    } else {
      simulated = simulated / *base - 1;
      result.unit = "";
    }
  }
  result.simulated = rounded(simulated);
  if (row.is_sign_alone()) result.ok = result.change && result.change->sign == row.sign;
  if (!row.value) return;
  if (*row.value != 0) result.ratio = rounded(*result.simulated / *row.value);
  result.ok = within_tolerance(row, *result.simulated);
}

bool unfinished(const PaperPoints& where, const std::vector<ReportedPoint>& points) {
  const auto open = [&](int number) { return !points[number].finished; };
  return std::any_of(where.at.begin(), where.at.end(), open) ||
         std::any_of(where.relative_to.begin(), where.relative_to.end(), open);
}

}  // namespace

std::optional<bool> within_tolerance(const PaperRow& row, double simulated) {
  if (!row.tolerance && !row.tolerance_abs) return std::nullopt;
  const double distance = std::abs(simulated - *row.value);
  const bool relative = row.tolerance && distance <= *row.tolerance * std::abs(*row.value);
  return relative || (row.tolerance_abs && distance <= *row.tolerance_abs);
}

Better direction_of(const PaperRow& row) {
  if (row.better) return *row.better;
  const MetricDeclaration* metric = find_metric(row.metrics.front());
  return metric == nullptr ? Better::neither : metric->better;
}

PaperResult evaluate(const PaperRow& row, const PaperPoints& where, const std::vector<ReportedPoint>& points, bool scored) {
  PaperResult result;
  result.row = row;
  if (where.at.empty()) {
    result.problem = "no point of this run is the one that it speaks of";
    return result;
  }
  if (row.shape != Shape::none || row.is_order()) {
    evaluate_series(result, where, points);
  } else {
    evaluate_value(result, where, points);
  }
  // A row whose point has not finished is not scored. If a finished point lacks the metric, the row counts as a miss.
  if (!result.problem.empty()) result.ok = unfinished(where, points) ? std::nullopt : std::optional(false);
  if (!scored || !row.scored || row.kind == PaperKind::input) result.ok.reset();
  return result;
}

std::optional<ChangeSign> published_sign(const PaperRow& row) {
  if (row.sign) return row.sign;
  const Better better = direction_of(row);
  if (!row.relative_to || !row.value || better == Better::neither) return std::nullopt;
  // A difference is published without the base's value, so its relative size is unknown: any change then counts as visible.
  return sign_of(*row.value, row.difference ? std::numeric_limits<double>::min() : row.visible, better);
}

std::string to_string(PaperKind kind) {
  return std::string(kPaperKindWords.at(ordinal(kind)));
}

std::string to_string(Shape shape) {
  switch (shape) {
    case Shape::increasing: return "increasing";
    case Shape::decreasing: return "decreasing";
    case Shape::flat: return "flat";
    case Shape::none: break;
  }
  return "";
}

}  // namespace linebounce::sim
