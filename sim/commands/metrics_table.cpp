#include "sim/commands/metrics_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/commands/sweep_table.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce {
namespace {

constexpr std::size_t kMostSideBySide = 4;  // points; of more, only what matters is shown
constexpr std::size_t kFigureWidth = 12;
constexpr std::size_t kNameWidth = 56;
constexpr std::size_t kUnitWidth = 16;  // the longest unit, "instructions", and a space

std::string metric_text(const ReportedPoint& point, const std::string& name) {
  const auto found = point.metrics.find(name);
  if (found == point.metrics.end()) return "-";
  const auto* count = std::get_if<std::int64_t>(&found->second.value);
  std::string text = count != nullptr ? std::to_string(*count) : readable(as_double(found->second.value));
  if (found->second.ci95) text += " ±" + readable(*found->second.ci95);
  return text;
}

std::string point_title(const ReportedPoint& point) {
  std::string text;
  for (const auto& [path, value] : point.at) text += (text.empty() ? "" : ", ") + path + " = " + value_text(value);
  return text;
}

// Some of the points, side by side, below their numbers.
std::string metrics_block(const std::vector<ReportedPoint>& points, std::size_t first, std::size_t last,
                          const std::map<std::string, std::string>& units, std::size_t names, std::size_t width,
                          const Painter& paint) {
  std::string out;
  if (points.size() > 1) {
    out += "  " + std::string(names, ' ');
    for (std::size_t i = first; i < last; ++i) out += pad_left("point " + std::to_string(i), width);
    out += "\n";
  }
  out += rule(paint);
  for (const auto& [name, unit] : units) {
    out += fmt::format("  {}", pad_right(shortened(name, names - 1), names));
    for (std::size_t i = first; i < last; ++i) out += pad_left(metric_text(points[i], name), width);
    out += trimmed(fmt::format(" {}", paint(Colour::dim, unit))) + '\n';
  }
  return out;
}

}  // namespace

std::string metrics_table(const std::vector<ReportedPoint>& points, const Painter& paint) {
  if (points.size() > kMostSideBySide) return sweep_table(points, paint);
  std::map<std::string, std::string> units;
  std::size_t width = kFigureWidth;
  std::size_t names = 0;
  for (const ReportedPoint& point : points) {
    for (const auto& [name, metric] : point.metrics) {
      units[name] = metric.unit;
      names = std::max(names, std::min(width_of(name) + 1, kNameWidth));
      width = std::max(width, width_of(metric_text(point, name)) + 2);
    }
  }
  std::string out;
  if (points.size() > 1) {
    for (std::size_t i = 0; i < points.size(); ++i) out += fmt::format("  point {}: {}\n", i, point_title(points[i]));
    out += "\n";
  }
  const std::size_t columns = std::max<std::size_t>(1, (kTerminalWidth - 2 - names - kUnitWidth) / width);
  for (std::size_t first = 0; first < points.size(); first += columns) {
    if (first > 0) out += "\n";
    out += metrics_block(points, first, std::min(points.size(), first + columns), units, names, width, paint);
  }
  return out;
}

}  // namespace linebounce
