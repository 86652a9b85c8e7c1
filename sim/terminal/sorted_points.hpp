// The points of a sweep in the order of a metric: which lock, which design is best.
#pragma once

#include <string>
#include <vector>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

// The largest first; points without this metric last, equals in the sweep's order. Empty `metric`: the sweep's order.
std::vector<ReportedPoint> sorted_points(std::vector<ReportedPoint> points, const std::string& metric);

}  // namespace linebounce::sim
