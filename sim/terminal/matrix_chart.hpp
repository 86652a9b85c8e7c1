// The core-to-core matrix for the terminal: one block for each state of the line, CPUs of a node side by side.
#pragma once

#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// `node_of_cpu` by CPU number. Latencies are means over the homes of the lines. Up to 16 CPUs are shown as figures, more as
// shades. Empty when nothing was measured.
std::string matrix_chart(const std::vector<MatrixRow>& rows, const std::vector<int>& node_of_cpu, const Painter& paint);

}  // namespace linebounce::sim
