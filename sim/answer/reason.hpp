// Explains why one point does more than another, from the metrics of both.
#pragma once

#include <string>

#include "sim/results/reported_point.hpp"

namespace linebounce::sim {

struct Contender {
  const ReportedPoint& point;
  std::string name;
  std::string under;  // how a sentence begins: "Under mcs", "On epyc_7742_2socket", "With latency_ns = 80"
  double cpus = 0;    // 0: unknown
};

// Names the largest parts of the difference in time per operation, and the share that they explain if it is below four fifths.
// Empty if the metric is not operations per second, or the results don't break the time down.
std::string reason_of(const Contender& winner, const Contender& next, const std::string& metric);

// A sentence about the largest part of a point's time; empty if nothing stands out.
std::string main_cost(const ReportedPoint& point);

}  // namespace linebounce::sim
