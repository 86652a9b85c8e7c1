// A sweep for people: one row a point, the swept values first, then the run's headline metrics.
#pragma once

#include <string>
#include <vector>

#include "sim/results/headlines.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// Where the line has no room for all of them, the last metrics are left out. Below the table stands what each column is.
// REQUIRES: every point has the same paths in `at`.
std::string sweep_table(const std::vector<ReportedPoint>& points, const std::vector<HeadlineMetric>& metrics,
                        const Painter& paint);

// The metrics' full names, as lines below a table.
std::string headline_names(const std::vector<HeadlineMetric>& metrics, const Painter& paint);

}  // namespace linebounce::sim
