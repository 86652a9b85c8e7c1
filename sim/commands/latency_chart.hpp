// The latency histogram for the terminal: a logarithmic axis, one strip and one colour for each source.
#pragma once

#include <string>
#include <vector>

#include "sim/commands/terminal.hpp"
#include "sim/results/point_data.hpp"

namespace linebounce {

// Each strip is drawn to its own height: a source's share stands beside it. Empty when nothing was measured.
std::string latency_chart(const std::vector<LatencyRow>& rows, const Painter& paint);

}  // namespace linebounce
