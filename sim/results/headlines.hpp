// The few metrics of a run to read first: those that its workload names, in that order.
#pragma once

#include <string>
#include <vector>

#include "sim/results/metrics.hpp"
#include "sim/results/paper.hpp"

namespace linebounce::sim {

struct HeadlineMetric {
  std::string name;
  std::string label;  // the heading of a column: "wait"
  std::string unit;   // "us"
  Better better = Better::neither;
};

inline constexpr std::size_t kMostHeadlines = 3;

// At most kMostHeadlines of the metrics that at least half of the points have. If the workload names fewer, other metrics
// declared as headlines follow, in the order of presentation.
std::vector<HeadlineMetric> headlines_of(const std::string& workload, const std::vector<ReportedPoint>& points);

// Makes a headline of any metric.
HeadlineMetric headline_of(const std::string& name, const std::string& unit, const std::string& label = "");

}  // namespace linebounce::sim
