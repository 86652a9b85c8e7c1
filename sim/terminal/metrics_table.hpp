// Simulated metrics as a table for the terminal.
#pragma once

#include <string>
#include <vector>

#include "sim/results/headlines.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

struct MetricsView {
  std::string sorted_by = {};  // the metric to sort by; empty: keep the sweep's order
  bool all = false;            // also show, below the headlines and by group, all metrics that lock_table() does not show
};

// The headline metrics of each point. A sweep is shown as by sweep_table().
std::string metrics_table(const std::vector<ReportedPoint>& points, std::vector<HeadlineMetric> headlines, const Painter& paint,
                          const MetricsView& view = {});

// "machine.cpus = 4, workload.lock = my_lock"; empty for a run without a sweep.
std::string point_title(const ReportedPoint& point);

// A sweep: one row for each point, with the swept values and the headline metrics, and below the table an explanation of each
// column. If the metrics don't all fit, the last ones are left out. REQUIRES: every point has the same paths in `at`.
std::string sweep_table(const std::vector<ReportedPoint>& points, const std::vector<HeadlineMetric>& metrics,
                        const Painter& paint);

}  // namespace linebounce::sim
