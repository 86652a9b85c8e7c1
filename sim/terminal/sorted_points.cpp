#include "sim/terminal/sorted_points.hpp"

#include <algorithm>
#include <limits>

#include "sim/results/numbers.hpp"

namespace linebounce::sim {

std::vector<ReportedPoint> sorted_points(std::vector<ReportedPoint> points, const std::string& metric) {
  const auto figure = [&metric](const ReportedPoint& point) {
    const auto found = point.metrics.find(metric);
    return found == point.metrics.end() ? -std::numeric_limits<double>::infinity() : as_double(found->second.value);
  };
  if (metric.empty()) return points;
  std::stable_sort(points.begin(), points.end(), [&figure](const auto& a, const auto& b) { return figure(a) > figure(b); });
  return points;
}

}  // namespace linebounce::sim
