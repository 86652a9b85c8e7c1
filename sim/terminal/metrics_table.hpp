// What was simulated, as a table for the terminal, where there is no paper to hold it against.
#pragma once

#include <string>
#include <vector>

#include "sim/results/headlines.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

struct MetricsView {
  std::string sorted_by = {};  // a metric; empty: in the sweep's order
  bool all = false;            // every metric but what lock_table() has, by group, behind the headlines
};

// The headline metrics of each point; of a sweep as sweep_table().
std::string metrics_table(const std::vector<ReportedPoint>& points, std::vector<HeadlineMetric> headlines, const Painter& paint,
                          const MetricsView& view = {});

// "machine.cpus = 4, workload.lock = my_lock"; empty for a run without a sweep.
std::string point_title(const ReportedPoint& point);

// A sweep: one row a point, the swept values first, then the run's headline metrics. Where the line has no room for all of
// them, the last metrics are left out. Below the table stands what each column is.
// REQUIRES: every point has the same paths in `at`.
std::string sweep_table(const std::vector<ReportedPoint>& points, const std::vector<HeadlineMetric>& metrics,
                        const Painter& paint);

}  // namespace linebounce::sim
