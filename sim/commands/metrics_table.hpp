// What was simulated, as a table for the terminal, where there is no paper to hold it against.
#pragma once

#include <string>
#include <vector>

#include "sim/commands/terminal.hpp"
#include "sim/results/paper.hpp"

namespace linebounce {

// Every metric of a few points, side by side as far as they fit; of many points sweep_table().
std::string metrics_table(const std::vector<ReportedPoint>& points, const Painter& paint);

}  // namespace linebounce
