// A sweep for people: one row a point, the swept values first, then the metrics that matter most, as many as fit.
#pragma once

#include <string>
#include <vector>

#include "sim/results/paper.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// REQUIRES: every point has the same paths in `at`. results.json has all metrics; the last line says so.
std::string sweep_table(const std::vector<ReportedPoint>& points, const Painter& paint);

}  // namespace linebounce::sim
