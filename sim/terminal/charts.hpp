// Charts for the terminal. Each shows the content of one result file.
#pragma once

#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// The latency histogram, with a logarithmic axis and one strip in its own colour for each source. Each strip has its own
// vertical scale; the source's share is printed beside it. Empty if nothing was measured.
std::string latency_chart(const std::vector<LatencyRow>& rows, const Painter& paint);

// The core-to-core matrix: one block for each state of the line, with the CPUs of a node side by side. `node_of_cpu`: by CPU
// number. Latencies are averaged over the lines' homes. With up to 16 CPUs the cells show figures, with more they show
// shades. Empty if nothing was measured.
std::string matrix_chart(const std::vector<MatrixRow>& rows, const std::vector<int>& node_of_cpu, const Painter& paint);

// Quantities over simulated time: one line each, on a common time axis. `rows`: one point's series, each sorted by time. The
// scale begins at 0, or at the lowest value if that is negative. Empty if there are none.
std::string series_chart(const std::vector<SeriesRow>& rows, const Painter& paint);

}  // namespace linebounce::sim
