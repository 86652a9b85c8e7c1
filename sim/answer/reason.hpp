// Explains why one point does more than another, from the metrics of both.
#pragma once

#include <string>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

struct Contender {
  const ReportedPoint& point;
  std::string name;
  std::string under;  // the beginning of a sentence: "Under mcs", "On epyc_7742_2socket", "With latency_ns = 80"
  double cpus = 0;    // 0: unknown
};

// The largest terms of the difference in time per operation, and the share that they explain if it is less than four fifths.
// Empty if there are no operations per second, or the results don't divide the time.
std::string reason_of(const Contender& winner, const Contender& next, const std::string& metric);

// The largest part of a point's time, as a sentence; empty if nothing stands out.
std::string main_cost(const ReportedPoint& point);

}  // namespace linebounce::sim
