#include "sim/terminal/sweep_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sim/point/metrics.hpp"
#include "sim/results/numbers.hpp"
#include "sim/terminal/metrics_table.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kWidestSweptValue = 28;

struct SweepColumn {
  std::string group;  // said once, above all neighbours that share it
  std::string name;   // in as many lines as its words need
  std::string unit;
  std::vector<std::string> cells;  // by point
  bool left = false;
  std::size_t width = 0;
};

// ---- which metrics, and what they are called ----

bool is_headline(const std::string& metric) {
  const MetricDeclaration* declared = find_metric(metric);
  return declared == nullptr || declared->headline;
}

// Of a lock, all its call sites together.
bool is_contention(const std::string& metric) {
  return metric_group(metric) == MetricGroup::lock && metric.ends_with(".con_pct");
}
bool is_wait(const std::string& metric) {
  return metric_group(metric) == MetricGroup::lock && metric.ends_with(".wait_mean_us");
}

std::set<std::string> names_of(const std::vector<ReportedPoint>& points) {
  std::set<std::string> names;
  for (const ReportedPoint& point : points) {
    for (const auto& [name, metric] : point.metrics) names.insert(name);
  }
  return names;
}

// What fewer than half of the points have is about those points, not about the sweep.
bool is_rare(const std::vector<ReportedPoint>& points, const std::string& metric) {
  const auto has = [&metric](const ReportedPoint& point) { return point.metrics.contains(metric); };
  return 2 * static_cast<std::size_t>(std::count_if(points.begin(), points.end(), has)) < points.size();
}

// By group, then by name.
std::vector<std::string> headlines(const std::vector<ReportedPoint>& points, const std::set<std::string>& names) {
  std::vector<std::string> chosen;
  std::copy_if(names.begin(), names.end(), std::back_inserter(chosen),
               [&points](const auto& name) { return is_headline(name) && !is_rare(points, name); });
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto& a, const auto& b) { return metric_group(a) < metric_group(b); });
  // Of a few locks the contention says enough, of many none stands for the others.
  constexpr std::ptrdiff_t kMostLocks = 3;
  const auto locks = std::count_if(chosen.begin(), chosen.end(), is_contention);
  if (locks > 1) std::erase_if(chosen, is_wait);
  if (locks > kMostLocks) std::erase_if(chosen, is_contention);
  return chosen;
}

// The unit stands below the name and not in it, too.
std::string without_unit(std::string name, const std::string& unit) {
  const std::string suffix = unit == "%" ? "_pct" : unit == "1/s" ? "_per_s" : "_" + unit;
  if (name.ends_with(suffix)) name.erase(name.size() - suffix.size());
  return name;
}

std::string words_of(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
  return name;
}

// What stands above all columns of a group, and what its metrics begin or end with, too, is not repeated in each.
struct Heading {
  std::string group, name;
};

Heading heading_of(const std::string& metric, const std::string& unit) {
  constexpr std::string_view kMean = ".mean_ns";
  const std::size_t dot = metric.find('.');
  const std::string rest = metric.substr(dot + 1);
  switch (metric_group(metric)) {
    case MetricGroup::latency: return {"mean latency", words_of(rest.substr(0, rest.size() - kMean.size()))};
    case MetricGroup::cpu: return {"CPI", words_of(rest)};
    default: return {words_of(metric.substr(0, dot)), words_of(without_unit(rest, unit))};
  }
}

std::size_t longest_word(const std::string& words) {
  std::size_t longest = 0;
  for (const std::string& word : wrapped(words, 1)) longest = std::max(longest, width_of(word));
  return longest;
}

// ---- figures: all of a column with the same decimals ----

int decimals_for(double value) {
  const double size = std::abs(value);
  return size < 10 ? 3 : size < 100 ? 2 : size < 1000 ? 1 : 0;
}

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
  const bool too_small = value != 0 && std::abs(value) < kTwoDigits.at(static_cast<std::size_t>(decimals));
  return too_small ? readable(value) : fmt::format("{:.{}f}", value, decimals);
}

std::vector<std::string> figures_of(const std::vector<const ReportedMetric*>& values) {
  double largest = 0;
  for (const ReportedMetric* metric : values) {
    if (metric != nullptr) largest = std::max(largest, std::abs(as_double(metric->value)));
  }
  const int decimals = decimals_for(largest);
  std::vector<std::string> cells;
  for (const ReportedMetric* metric : values) {
    if (metric == nullptr) {
      cells.emplace_back("-");
      continue;
    }
    const auto* count = std::get_if<std::int64_t>(&metric->value);
    std::string text = count != nullptr ? std::to_string(*count) : figure(std::get<double>(metric->value), decimals);
    if (metric->ci95) text += fmt::format(" ±{:.{}f}", *metric->ci95, decimals);
    cells.push_back(std::move(text));
  }
  return cells;
}

// ---- columns ----

std::size_t widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, width_of(text));
  return width;
}

SweepColumn metric_column(const std::vector<ReportedPoint>& points, const std::string& metric) {
  const auto values = values_of(points, metric);
  const auto there = std::find_if(values.begin(), values.end(), [](const auto* value) { return value != nullptr; });
  const std::string unit = (*there)->unit;
  const Heading heading = heading_of(metric, unit);
  SweepColumn column;
  column.group = heading.group;
  column.name = heading.name;
  column.unit = unit == "1/s" ? "per s" : unit;
  column.cells = figures_of(values);
  column.width = std::max({widest(column.cells), longest_word(column.name), width_of(column.unit)});
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
  column.name = short_name(points.front().at[axis].first, points.front().at);
  for (const ReportedPoint& point : points) {
    const ConfigValue& value = point.at[axis].second;
    if (std::holds_alternative<std::string>(value)) column.left = true;
    column.cells.push_back(shortened(shown_value(value), kWidestSweptValue));
  }
  column.width = std::max(widest(column.cells), width_of(column.name));
  return column;
}

std::size_t total_width(const std::vector<SweepColumn>& columns) {
  std::size_t width = 0;
  for (const SweepColumn& column : columns) width += column.width + kGap;
  return width;
}

// Adds a column, if it fits, with room for its group's name when it begins a group.
bool add_if_it_fits(std::vector<SweepColumn>& columns, SweepColumn column) {
  if (columns.back().group != column.group) column.width = std::max(column.width, width_of(column.group));
  if (total_width(columns) + column.width + kGap > kTerminalWidth) return false;
  columns.push_back(std::move(column));
  return true;
}

// ---- lines ----

// A group's name stands in the middle above its columns.
std::string group_line(const std::vector<SweepColumn>& columns) {
  std::string line;
  for (auto first = columns.begin(); first != columns.end();) {
    const auto last =
        std::find_if(first, columns.end(), [&](const SweepColumn& column) { return column.group != first->group; });
    const std::size_t width = total_width(std::vector<SweepColumn>(first, last)) - kGap;
    const bool alone = last - first == 1;
    line += std::string(kGap, ' ') + (alone ? pad_left(first->group, width) : centred(first->group, width));
    first = last;
  }
  return trimmed(line);
}

void add_head(Table& table, const std::vector<SweepColumn>& columns, const Painter& paint) {
  std::vector<std::vector<std::string>> names;
  std::vector<Cell> units;
  std::size_t lines = 0;
  for (const SweepColumn& column : columns) {
    names.push_back(wrapped(column.name, column.width));
    lines = std::max(lines, names.back().size());
    units.emplace_back(column.unit, Colour::dim);
  }
  table.add_text(paint(Colour::dim, group_line(columns)) + "\n");
  for (std::size_t above = lines; above > 0; --above) {
    std::vector<Cell> cells;
    for (const auto& name : names) cells.emplace_back(above > name.size() ? "" : name[name.size() - above]);
    table.add(std::move(cells));
  }
  table.add(std::move(units));
  table.add_rule();
}

// Swept values that only repeat the row above step back.
std::vector<Cell> cells_of(const std::vector<SweepColumn>& columns, std::size_t axes, std::size_t row) {
  std::vector<Cell> cells;
  bool repeats = row > 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& text = columns[i].cells[row];
    repeats = repeats && i < axes && text == columns[i].cells[row - 1];
    cells.emplace_back(text, repeats || text == "-" ? Colour::dim : Colour::none);
  }
  return cells;
}

}  // namespace

std::string sweep_table(const std::vector<ReportedPoint>& points, const Painter& paint) {
  std::vector<SweepColumn> columns;
  const std::size_t axes = points.front().at.size();
  for (std::size_t axis = 0; axis < axes; ++axis) columns.push_back(swept_column(points, axis));
  const std::set<std::string> names = names_of(points);
  for (const std::string& name : headlines(points, names)) {
    if (!add_if_it_fits(columns, metric_column(points, name))) break;
  }
  std::vector<Column> places;
  for (const SweepColumn& column : columns) {
    places.push_back({"", column.left ? Fit::text : Fit::figure, column.width, places.empty() ? 0 : kGap});
  }
  Table table(std::move(places), paint, kGap);
  add_head(table, columns, paint);
  for (std::size_t row = 0; row < points.size(); ++row) table.add(cells_of(columns, axes, row));
  const std::size_t shown = columns.size() - axes;
  if (shown == names.size()) return table.text();
  const std::string note = fmt::format("  {} of {} metrics; results.json has them all", shown, names.size());
  return table.text() + paint(Colour::dim, note) + "\n";
}

}  // namespace linebounce::sim
