// What makes a point's figures mean less than they seem to: starvation, two modes, a warm-up that was too short, few samples.
#pragma once

#include <string>
#include <vector>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

// A sentence each, worst first; none: nothing of what is looked at was found.
std::vector<std::string> health_warnings(const ReportedPoint& point);

}  // namespace linebounce::sim
