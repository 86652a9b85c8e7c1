// Chooses the few metrics that a reader should see first. The workload names them and their order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/results/metrics.hpp"
#include "sim/results/reported_point.hpp"

namespace linebounce::sim {

struct HeadlineMetric {
  std::string name;
  std::string label;  // a column's heading: "wait"
  std::string unit;   // "us"
  Better better = Better::neither;
};

inline constexpr std::size_t kMostHeadlines = 3;

// Chooses up to kMostHeadlines metrics that at least half of the points have. If the workload names too few, adds metrics that
// are declared as headlines, in presentation order.
std::vector<HeadlineMetric> headlines_of(const std::string& workload, const std::vector<ReportedPoint>& points);

// True for the mean latency of misses of some kind. It says what a miss costs, not what an operation does.
bool is_mean_over_misses(std::string_view metric);

// Describes any metric in the form of a headline.
HeadlineMetric headline_of(const std::string& name, const std::string& unit, const std::string& label = "");

}  // namespace linebounce::sim
