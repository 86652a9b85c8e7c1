// What was simulated, as a table for the terminal, where there is no paper to hold it against.
#pragma once

#include <string>
#include <vector>

#include "sim/results/paper.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// Every metric of a few points, side by side as far as they fit, but what lock_table() has; of many points sweep_table(), in
// the order of the metric `sorted_by`, if there is one.
std::string metrics_table(const std::vector<ReportedPoint>& points, const Painter& paint, const std::string& sorted_by = "");

// "machine.cpus = 4, workload.lock = mcs"; empty for a run without a sweep.
std::string point_title(const ReportedPoint& point);

// A swept value; the file of a program or lock as seen from the current folder, if that is shorter.
std::string shown_value(const ConfigValue& value);

}  // namespace linebounce::sim
