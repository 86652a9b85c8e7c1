// The latency histogram for the terminal: a logarithmic axis, one strip and one colour for each source.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// Each strip is drawn to its own height: a source's share stands beside it. Empty when nothing was measured. `points`: of how
// many points the rows are the sum.
std::string latency_chart(const std::vector<LatencyRow>& rows, std::size_t points, const Painter& paint);

}  // namespace linebounce::sim
