// A line on how CPUs spend their time, for the terminal.
#pragma once

#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// "Of all CPUs' time: 41 % spin, 33 % remote HITM, 21 % issue", the largest part first. Parts below 1 % are summed as "5 %
// others". Empty if no CPU ran. `rows` as in cpi.csv.
std::string cpi_line(const std::vector<CpiRow>& rows, const Painter& paint);

}  // namespace linebounce::sim
