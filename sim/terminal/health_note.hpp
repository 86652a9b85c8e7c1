// Warnings about the points of a run whose figures mean less than they seem to.
#pragma once

#include <string>
#include <vector>

#include "sim/results/paper.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// Empty if there is nothing to warn of.
std::string health_note(const std::vector<ReportedPoint>& points, const Painter& paint);

}  // namespace linebounce::sim
