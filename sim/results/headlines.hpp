// The few metrics of a run that people read first: those that its workload names, in that order.
#pragma once

#include <string>
#include <vector>

#include "sim/results/metrics.hpp"
#include "sim/results/paper.hpp"

namespace linebounce::sim {

struct HeadlineMetric {
  std::string name;
  std::string label;  // of a column: "wait"
  std::string unit;   // "us"
  Better better = Better::neither;
};

inline constexpr std::size_t kMostHeadlines = 3;

// Of the metrics that half of the points have or more: at most kMostHeadlines. Where a workload names fewer, those that are
// declared as headlines fill up, in the order of presentation.
std::vector<HeadlineMetric> headlines_of(const std::string& workload, const std::vector<ReportedPoint>& points);

// Any metric as one of them.
HeadlineMetric headline_of(const std::string& name, const std::string& unit, const std::string& label = "");

}  // namespace linebounce::sim
