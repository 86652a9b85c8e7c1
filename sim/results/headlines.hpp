// The few metrics of a run that a reader should see first: those that the workload names, in its order.
#pragma once

#include <string>
#include <vector>

#include "sim/results/metrics.hpp"
#include "sim/results/paper.hpp"

namespace linebounce::sim {

struct HeadlineMetric {
  std::string name;
  std::string label;  // a column's heading: "wait"
  std::string unit;   // "us"
  Better better = Better::neither;
};

inline constexpr std::size_t kMostHeadlines = 3;

// Chooses up to kMostHeadlines metrics that at least half of the points have. If the workload names fewer, adds other metrics
// that are declared as headlines, in the order of presentation.
std::vector<HeadlineMetric> headlines_of(const std::string& workload, const std::vector<ReportedPoint>& points);

// Makes a headline of any metric.
HeadlineMetric headline_of(const std::string& name, const std::string& unit, const std::string& label = "");

}  // namespace linebounce::sim
