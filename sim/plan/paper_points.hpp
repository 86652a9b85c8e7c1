// Which points of an experiment a [[paper]] row speaks of.
#pragma once

#include <vector>

#include "sim/config/experiment.hpp"
#include "sim/results/paper.hpp"

namespace linebounce::sim {

// Finds the points that the row's `at` (and `relative_to`) select, comparing with where each point lies. A shape needs at
// least two, in the sweep's order, everything else exactly one. Errors: ConfigError naming the row.
PaperPoints select_points(const PaperRow& row, const std::vector<PointPlace>& points);

}  // namespace linebounce::sim
