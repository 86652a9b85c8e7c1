// Quantities over simulated time for the terminal: a line each, on one axis of time.
#pragma once

#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// One point's series, each in the order of time; drawn from 0 to its highest value, or from its lowest if that is below 0.
// Empty when there are none.
std::string series_chart(const std::vector<SeriesRow>& rows, const Painter& paint);

}  // namespace linebounce::sim
