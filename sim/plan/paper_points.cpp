#include "sim/plan/paper_points.hpp"

#include <algorithm>

#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

std::vector<int> selected(const std::map<std::string, ConfigValue>& wanted, const std::vector<PointPlace>& points) {
  std::vector<int> numbers;
  for (const PointPlace& point : points) {
    if (lies_at(point, wanted)) numbers.push_back(point.number);
  }
  return numbers;
}

std::string at_text(const std::map<std::string, ConfigValue>& at) {
  std::string text = "{";
  for (const auto& [path, value] : at) text += (text.size() > 1 ? ", " : " ") + path + " = " + value_text(value);
  return text + (at.empty() ? "}" : " }");
}

// Points of a shape differ in `over` alone: two with the same value there mean that `at` leaves another axis open.
void require_one_axis(const PaperRow& row, const std::vector<int>& numbers, const std::vector<PointPlace>& points) {
  std::vector<ConfigValue> seen;
  for (const int number : numbers) {
    for (const auto& entry : points[number].at) {
      if (entry.first != row.over) continue;
      const ConfigValue& value = entry.second;
      if (std::any_of(seen.begin(), seen.end(), [&](const ConfigValue& other) { return same_value(other, value); })) {
        throw ConfigError("paper row " + row.id + ": at = " + at_text(row.at) + " selects several points with " + row.over +
                          " = " + value_text(value) + "; name the other swept keys in `at`");
      }
      seen.push_back(value);
    }
  }
  if (seen.size() != numbers.size() || seen.size() < 2) {
    throw ConfigError("paper row " + row.id + ": a shape needs at least two points along over = \"" + row.over +
                      "\", which must be a swept key; at = " + at_text(row.at) + " selects " + std::to_string(numbers.size()));
  }
}

std::vector<int> require_one(const PaperRow& row, const char* key, const std::map<std::string, ConfigValue>& at,
                             const std::vector<PointPlace>& points) {
  std::vector<int> numbers = selected(at, points);
  if (numbers.size() != 1) {
    throw ConfigError("paper row " + row.id + ": " + key + " = " + at_text(at) + " selects " + std::to_string(numbers.size()) +
                      " of the " + std::to_string(points.size()) + " points; it must select one");
  }
  return numbers;
}

}  // namespace

PaperPoints select_points(const PaperRow& row, const std::vector<PointPlace>& points) {
  PaperPoints where;
  if (row.shape != Shape::none && !row.is_order()) {
    where.at = selected(row.at, points);
    require_one_axis(row, where.at, points);
  } else {
    where.at = require_one(row, "at", row.at, points);
  }
  if (row.relative_to) where.relative_to = require_one(row, "relative_to", *row.relative_to, points);
  return where;
}

}  // namespace linebounce::sim
