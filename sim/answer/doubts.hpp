// Qualifies an answer: lists the points whose figures mean less than they seem to. One sentence covers all points with the
// same problem.
#pragma once

#include <string>
#include <vector>

#include "sim/answer/what_varies.hpp"
#include "sim/results/paper.hpp"

namespace linebounce::sim {

std::vector<std::string> doubts_of(const std::vector<ReportedPoint>& points, const Roles& roles);

}  // namespace linebounce::sim
