// Qualifies an answer: lists points whose figures are less reliable or less general than they look. One sentence covers all
// points with the same problem.
#pragma once

#include <string>
#include <vector>

#include "sim/answer/what_varies.hpp"
#include "sim/results/reported_point.hpp"

namespace linebounce::sim {

std::vector<std::string> doubts_of(const std::vector<ReportedPoint>& points, const Roles& roles);

}  // namespace linebounce::sim
