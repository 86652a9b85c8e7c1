#include "sim/terminal/sweep_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/results/numbers.hpp"
#include "sim/terminal/metrics_table.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kWidestSweptValue = 28;

struct SweepColumn {
  std::string title;
  std::vector<std::string> cells;  // by point
  bool left = false;
  std::size_t width = 0;
};

// ---- figures: all of a column with the same decimals ----

std::vector<const ReportedMetric*> values_of(const std::vector<ReportedPoint>& points, const std::string& name) {
  std::vector<const ReportedMetric*> values;
  for (const ReportedPoint& point : points) {
    const auto found = point.metrics.find(name);
    values.push_back(found == point.metrics.end() ? nullptr : &found->second);
  }
  return values;
}

std::string figure(double value, int decimals) {
  constexpr std::array kTwoDigits = {10.0, 1.0, 0.1, 0.01};  // by decimals; of what is smaller, too little would be left
  const bool too_small = value != 0 && std::abs(value) < kTwoDigits.at(decimals);
  return too_small ? readable(value) : fmt::format("{:.{}f}", value, decimals);
}

std::vector<std::string> figures_of(const std::vector<const ReportedMetric*>& values) {
  double largest = 0;
  for (const ReportedMetric* metric : values) {
    if (metric != nullptr) largest = std::max(largest, std::abs(as_double(metric->value)));
  }
  const int decimals = readable_decimals(largest);
  std::vector<std::string> cells;
  for (const ReportedMetric* metric : values) {
    if (metric == nullptr) {
      cells.emplace_back("-");
      continue;
    }
    const auto* count = std::get_if<std::int64_t>(&metric->value);
    const double interval = metric->ci95.value_or(0);
    if (is_interval(as_double(metric->value), interval)) {
      cells.push_back(with_interval(as_double(metric->value), interval, decimals));
    } else {
      cells.push_back(count != nullptr ? std::to_string(*count) : figure(std::get<double>(metric->value), decimals));
    }
  }
  return cells;
}

// ---- columns ----

// "wait µs", "operations/s", "slowest/fastest CPU %".
std::string title_of(const HeadlineMetric& metric) {
  if (metric.unit == "1/s") return metric.label + "/s";
  return metric.unit.empty() ? metric.label : metric.label + " " + shown_unit(metric.unit);
}

std::size_t widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, width_of(text));
  return width;
}

SweepColumn metric_column(const std::vector<ReportedPoint>& points, const HeadlineMetric& metric) {
  SweepColumn column;
  column.title = title_of(metric);
  column.cells = figures_of(values_of(points, metric.name));
  column.width = std::max(widest(column.cells), width_of(column.title));
  return column;
}

// The last part of a swept path, and of the part before it what is needed to tell it from the others.
std::string short_name(const std::string& path, const std::vector<std::pair<std::string, ConfigValue>>& at) {
  for (std::size_t dot = path.rfind('.'); dot != std::string::npos && dot > 0; dot = path.rfind('.', dot - 1)) {
    const std::string tail = path.substr(dot);
    if (std::count_if(at.begin(), at.end(), [&](const auto& axis) { return axis.first.ends_with(tail); }) == 1) {
      return tail.substr(1);
    }
  }
  return path;
}

SweepColumn swept_column(const std::vector<ReportedPoint>& points, std::size_t axis) {
  SweepColumn column;
  column.title = short_name(points.front().at[axis].first, points.front().at);
  for (const ReportedPoint& point : points) {
    const ConfigValue& value = point.at[axis].second;
    if (std::holds_alternative<std::string>(value)) column.left = true;
    column.cells.push_back(shortened(shown_value(value), kWidestSweptValue));
  }
  column.width = std::max(widest(column.cells), width_of(column.title));
  return column;
}

std::size_t total_width(const std::vector<SweepColumn>& columns) {
  std::size_t width = 0;
  for (const SweepColumn& column : columns) width += column.width + kGap;
  return width;
}

// Swept values that only repeat the row above step back. A point without results says so in the place of its figures.
std::vector<Cell> cells_of(const std::vector<SweepColumn>& columns, std::size_t axes, std::size_t row,
                           const ReportedPoint& point) {
  std::vector<Cell> cells;
  bool repeats = row > 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& text = columns[i].cells[row];
    repeats = repeats && i < axes && text == columns[i].cells[row - 1];
    cells.emplace_back(text, repeats || text == "-" ? Colour::dim : Colour::none);
  }
  if (point.metrics.empty() && columns.size() > axes)
    cells[axes] = point.failed ? Cell("FAILED", Colour::red) : Cell("not run", Colour::yellow);
  return cells;
}

}  // namespace

std::string headline_names(const std::vector<HeadlineMetric>& metrics, const Painter& paint) {
  Table table({words(""), names("", 0, 2)}, paint);
  for (const HeadlineMetric& metric : metrics) table.add({{title_of(metric), Colour::dim}, {metric.name, Colour::dim}});
  return table.text();
}

std::string sweep_table(const std::vector<ReportedPoint>& points, const std::vector<HeadlineMetric>& metrics,
                        const Painter& paint) {
  std::vector<SweepColumn> columns;
  const std::size_t axes = points.front().at.size();
  for (std::size_t axis = 0; axis < axes; ++axis) columns.push_back(swept_column(points, axis));
  std::vector<HeadlineMetric> shown;
  for (const HeadlineMetric& metric : metrics) {
    SweepColumn column = metric_column(points, metric);
    if (!shown.empty() && total_width(columns) + column.width + kGap > paint.columns()) break;
    columns.push_back(std::move(column));
    shown.push_back(metric);
  }
  std::vector<Column> places;
  for (const SweepColumn& column : columns)
    places.push_back({column.title, column.left ? Fit::text : Fit::figure, column.width, places.empty() ? 0 : kGap});
  Table table(std::move(places), paint, kGap);
  table.add_rule();
  for (std::size_t row = 0; row < points.size(); ++row) table.add(cells_of(columns, axes, row, points[row]));
  return table.text() + "\n" + headline_names(shown, paint);
}

}  // namespace linebounce::sim
