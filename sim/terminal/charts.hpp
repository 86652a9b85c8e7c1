// Charts for the terminal, each of one result file.
#pragma once

#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// The latency histogram: a logarithmic axis, one strip and one colour for each source. Each strip has its own scale; the
// source's share is printed beside it. Empty if nothing was measured.
std::string latency_chart(const std::vector<LatencyRow>& rows, const Painter& paint);

// The core-to-core matrix: one block for each state of the line, CPUs of a node side by side. `node_of_cpu`: by CPU number.
// Latencies are means over the homes of the lines. Up to 16 CPUs are shown as figures, more as shades. Empty if nothing was
// measured.
std::string matrix_chart(const std::vector<MatrixRow>& rows, const std::vector<int>& node_of_cpu, const Painter& paint);

// Quantities over simulated time: a line for each, on one time axis. `rows`: one point's series, each in the order of time.
// Drawn from 0 (or the lowest value if negative) to the highest value. Empty if there are none.
std::string series_chart(const std::vector<SeriesRow>& rows, const Painter& paint);

}  // namespace linebounce::sim
