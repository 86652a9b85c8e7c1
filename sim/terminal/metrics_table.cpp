#include "sim/terminal/metrics_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "sim/answer/quantity.hpp"
#include "sim/answer/what_varies.hpp"
#include "sim/results/metrics.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/reported_point.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

// Sorts points by `metric`, the largest first. Points without the metric come last; equal points keep the sweep's order, as
// all do if `metric` is empty.
std::vector<ReportedPoint> sorted_points(std::vector<ReportedPoint> points, const std::string& metric) {
  const auto figure = [&metric](const ReportedPoint& point) {
    const auto found = point.metrics.find(metric);
    return found == point.metrics.end() ? -std::numeric_limits<double>::infinity() : as_double(found->second.value);
  };
  if (metric.empty()) return points;
  std::ranges::stable_sort(points, [&figure](const auto& a, const auto& b) { return figure(a) > figure(b); });
  return points;
}

constexpr std::size_t kMetricFigureWidth = 12;
constexpr std::size_t kMetricNameWidth = 56;
constexpr std::size_t kUnitWidth = 16;  // fits the longest unit, "instructions", and a space

constexpr std::string_view kLocks = "locks.";

// "dcache_lock" for "locks.dcache_lock.con_pct" and for "locks.dcache_lock.d_lookup.con_pct".
std::string lock_of(const std::string& metric) {
  return metric.substr(kLocks.size(), metric.find('.', kLocks.size()) - kLocks.size());
}

// Metrics of locks that are shown for each point of a sweep, because the lock table only shows one point: contention and wait
// of every lock that some CPU waited for. Empty for a single point.
std::set<std::string> compared_lock_metrics(const std::vector<ReportedPoint>& points) {
  std::set<std::string> compared;
  if (points.size() == 1) return compared;
  for (const ReportedPoint& point : points) {
    for (const auto& [name, metric] : point.metrics) {
      if (!name.starts_with(kLocks)) continue;
      const std::string prefix = std::string(kLocks) + lock_of(name);
      if (name == prefix + ".con_pct" && as_double(metric.value) > 0) compared.insert({name, prefix + ".wait_mean_us"});
    }
  }
  return compared;
}

std::vector<const ReportedMetric*> values_of(const std::vector<ReportedPoint>& points, const std::string& name) {
  std::vector<const ReportedMetric*> values;
  for (const ReportedPoint& point : points) {
    const auto found = point.metrics.find(name);
    values.push_back(found == point.metrics.end() ? nullptr : &found->second);
  }
  return values;
}

// One metric's figures at several points, with one unit and the same number of decimals.
struct RowFigures {
  Scale scale;
  std::vector<std::string> texts;  // "-" where there is none
};

RowFigures row_figures(const std::vector<const ReportedMetric*>& values, const std::string& unit) {
  double largest = 0;
  for (const ReportedMetric* metric : values) {
    if (metric != nullptr) largest = std::max(largest, std::abs(as_double(metric->value)));
  }
  RowFigures figures{scale_of(largest, unit), {}};
  for (const ReportedMetric* metric : values) {
    if (metric == nullptr) {
      figures.texts.emplace_back("-");
      continue;
    }
    const auto* count = std::get_if<std::int64_t>(&metric->value);
    const bool exact = count != nullptr && figures.scale.factor == 1;
    figures.texts.push_back(exact ? std::to_string(*count) : figure_in(figures.scale, as_double(metric->value), metric->ci95));
  }
  return figures;
}

// The unit of each metric, by group and name.
using Units = std::map<std::pair<MetricGroup, std::string>, std::string>;

// A table of points `first` to `last` - 1, one column each, and one row for each metric.
std::string metrics_block(const std::vector<ReportedPoint>& points, std::size_t first, std::size_t last, const Units& units,
                          std::size_t name_width, std::size_t width, const Painter& paint) {
  std::vector<Column> columns = {names("", name_width - 1)};
  for (std::size_t i = first; i < last; ++i) {
    const std::string title = points.size() > 1 ? fmt::format("point {}", i) : "";
    columns.push_back({title, Fit::figure, width, i == first ? 1U : 0U, Colour::none});
  }
  columns.push_back(words("", kUnitWidth - 1, 1));
  Table table(std::move(columns), paint);
  table.add_rule();
  std::optional<MetricGroup> group;
  for (const auto& [key, unit] : units) {
    const std::string& name = key.second;
    if (group != key.first) table.add_text(paint(Colour::bold, fmt::format("  {}", to_string(key.first))) + "\n");
    group = key.first;
    std::vector<Cell> cells = {name};
    const RowFigures figures = row_figures(values_of(points, name), unit);
    for (std::size_t i = first; i < last; ++i) cells.emplace_back(figures.texts[i]);
    cells.emplace_back(figures.scale.name(), Colour::dim);
    table.add(std::move(cells));
  }
  return table.text();
}

// A note if no point has the metric: it is misspelt, or the workload does not measure it.
std::string sorting_note(const std::vector<ReportedPoint>& points, const std::string& sorted_by, const Painter& paint) {
  const auto has = [&sorted_by](const ReportedPoint& point) { return point.metrics.contains(sorted_by); };
  if (sorted_by.empty() || std::ranges::any_of(points, has)) return "";
  return paint(Colour::dim, fmt::format("  report.sorted_by: no point has the metric {}", sorted_by)) + "\n";
}

std::set<std::string> names_of(const std::vector<ReportedPoint>& points) {
  std::set<std::string> names;
  for (const ReportedPoint& point : points) {
    for (const auto& [name, metric] : point.metrics) names.insert(name);
  }
  return names;
}

// Moves the metric by which a sweep is sorted to the front of the headlines. Adds it if necessary, in place of the last.
void put_first(std::vector<HeadlineMetric>& headlines, const std::vector<ReportedPoint>& points, const std::string& sorted_by) {
  const auto found =
      std::ranges::find_if(points, [&sorted_by](const ReportedPoint& point) { return point.metrics.contains(sorted_by); });
  if (found == points.end()) return;
  const auto same = [&sorted_by](const HeadlineMetric& metric) { return metric.name == sorted_by; };
  if (const auto there = std::ranges::find_if(headlines, same); there != headlines.end()) {
    std::rotate(headlines.begin(), there, there + 1);
    return;
  }
  if (headlines.size() == kMostHeadlines) headlines.pop_back();
  headlines.insert(headlines.begin(), headline_of(sorted_by, found->metrics.at(sorted_by).unit));
}

// The headlines of a run without a sweep, one line each.
std::string headline_rows(const ReportedPoint& point, const std::vector<HeadlineMetric>& headlines, const Painter& paint) {
  Table table({words(""), figures("", 0, 2), words("", 0, 1), names("", 0, 3)}, paint);
  for (const HeadlineMetric& metric : headlines) {
    const RowFigures figures = row_figures(values_of({point}, metric.name), metric.unit);
    table.add({{metric.label, Colour::bold},
               {figures.texts.front(), Colour::bold},
               figures.scale.name(),
               {metric.name, Colour::dim}});
  }
  return table.text();
}

std::string all_metrics_table(const std::vector<ReportedPoint>& points, const Painter& paint) {
  const std::set<std::string> compared = compared_lock_metrics(points);
  Units units;
  std::size_t width = kMetricFigureWidth;
  std::size_t names = 0;
  for (const ReportedPoint& point : points) {
    for (const auto& [name, metric] : point.metrics) {
      if (name.starts_with(kLocks) && !compared.contains(name)) continue;
      units[{metric_group(name), name}] = metric.unit;
      names = std::max(names, std::min(width_of(name) + 1, kMetricNameWidth));
    }
  }
  for (const auto& [key, unit] : units) {
    for (const std::string& text : row_figures(values_of(points, key.second), unit).texts)
      width = std::max(width, width_of(text) + 2);
  }
  std::string out;
  if (points.size() > 1) {
    for (std::size_t i = 0; i < points.size(); ++i) out += fmt::format("  point {}: {}\n", i, point_title(points[i]));
    out += "\n";
  }
  names = std::min(names, paint.columns() - std::min(paint.columns() / 2, 2 + kUnitWidth + width));
  const std::size_t room = paint.columns() - std::min(paint.columns(), 2 + names + kUnitWidth);
  const std::size_t columns = std::max<std::size_t>(1, room / width);
  for (std::size_t first = 0; first < points.size(); first += columns) {
    if (first > 0) out += "\n";
    out += metrics_block(points, first, std::min(points.size(), first + columns), units, names, width, paint);
  }
  return out;
}

constexpr std::size_t kGap = 2;
constexpr std::size_t kWidestSweptValue = 28;

struct SweepColumn {
  std::string title;
  std::vector<std::string> cells;  // by point
  bool left = false;
  std::size_t width = 0;
};

// ---- columns ----

// "wait µs", "M operations/s", "k misses", "slowest/fastest CPU %".
std::string title_of(const HeadlineMetric& metric, const Scale& scale) {
  const std::string prefix = scale.prefix.empty() ? "" : scale.prefix + " ";
  const bool rate = scale.unit == "/s";
  return prefix + metric.label + (rate || scale.unit.empty() ? "" : " ") + scale.unit;
}

std::size_t widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, width_of(text));
  return width;
}

SweepColumn metric_column(const std::vector<ReportedPoint>& points, const HeadlineMetric& metric) {
  SweepColumn column;
  RowFigures figures = row_figures(values_of(points, metric.name), metric.unit);
  column.title = title_of(metric, figures.scale);
  column.cells = std::move(figures.texts);
  column.width = std::max(widest(column.cells), width_of(column.title));
  return column;
}

// A list of one value, as `ab` makes it of a setting for both sides, tells nothing in a table.
bool varies(const std::vector<ReportedPoint>& points, std::size_t axis) {
  return std::ranges::any_of(
      points, [&](const ReportedPoint& point) { return point.at[axis].second != points.front().at[axis].second; });
}

SweepColumn swept_column(const std::vector<ReportedPoint>& points, std::size_t axis) {
  SweepColumn column;
  std::vector<std::string> paths;
  for (const auto& [path, value] : points.front().at) paths.push_back(path);
  column.title = short_path(paths[axis], paths);
  for (const ReportedPoint& point : points) {
    const ConfigValue& value = point.at[axis].second;
    if (std::holds_alternative<std::string>(value)) column.left = true;
    column.cells.push_back(shortened(value_name(value), kWidestSweptValue));
  }
  column.width = std::max(widest(column.cells), width_of(column.title));
  return column;
}

std::size_t total_width(const std::vector<SweepColumn>& columns) {
  std::size_t width = 0;
  for (const SweepColumn& column : columns) width += column.width + kGap;
  return width;
}

// The cells of a row. Dims swept values that repeat the row above. A point without results has "FAILED" or "not run" in place
// of its first figure.
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

std::string point_title(const ReportedPoint& point) {
  std::string text;
  for (const auto& [path, value] : point.at) text += (text.empty() ? "" : ", ") + path + " = " + value_name(value);
  return text;
}

std::string metrics_table(const std::vector<ReportedPoint>& points, std::vector<HeadlineMetric> headlines, const Painter& paint,
                          const MetricsView& view) {
  put_first(headlines, points, view.sorted_by);
  if (headlines.empty()) return "";  // nothing has finished
  std::string out = points.front().at.empty() ? headline_rows(points.front(), headlines, paint)
                                              : sweep_table(sorted_points(points, view.sorted_by), headlines, paint);
  out += sorting_note(points, view.sorted_by, paint);
  const std::size_t others = names_of(points).size() - headlines.size();
  if (view.all) return out + "\n" + all_metrics_table(points, paint);
  if (others > 0)
    out += paint(Colour::dim,
                 fmt::format("  {}: --all-metrics prints them; results.json has them", plural(others, "more metric"))) +
           "\n";
  return out;
}

std::string sweep_table(const std::vector<ReportedPoint>& points, const std::vector<HeadlineMetric>& metrics,
                        const Painter& paint) {
  std::vector<SweepColumn> columns;
  for (std::size_t axis = 0; axis < points.front().at.size(); ++axis) {
    if (points.size() == 1 || varies(points, axis)) columns.push_back(swept_column(points, axis));
  }
  const std::size_t axes = columns.size();
  Table legend({words(""), names("", 0, 2)}, paint);
  for (const HeadlineMetric& metric : metrics) {
    SweepColumn column = metric_column(points, metric);
    if (columns.size() > axes && total_width(columns) + column.width + kGap > paint.columns()) break;
    legend.add({{column.title, Colour::dim}, {metric.name, Colour::dim}});
    columns.push_back(std::move(column));
  }
  std::vector<Column> places;
  for (const SweepColumn& column : columns)
    places.push_back({column.title, column.left ? Fit::text : Fit::figure, column.width, places.empty() ? 0 : kGap});
  Table table(std::move(places), paint, kGap);
  table.add_rule();
  for (std::size_t row = 0; row < points.size(); ++row) table.add(cells_of(columns, axes, row, points[row]));
  return table.text() + "\n" + legend.text();
}

}  // namespace linebounce::sim
