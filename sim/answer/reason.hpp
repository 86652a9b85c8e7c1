// Why one point does more than another, from what both have measured.
#pragma once

#include <string>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

struct Contender {
  const ReportedPoint& point;
  std::string name;
  std::string under;  // "Under mcs", "On epyc_7742_2socket", "With latency_ns = 80": how a sentence begins
  double cpus = 0;    // 0: unknown
};

// The largest terms of the difference in time per operation, and how much of it they explain if that is less than four fifths.
// Empty where there are no operations per second, or the results don't part the time.
std::string reason_of(const Contender& winner, const Contender& next, const std::string& metric);

// What most of a point's time goes into, as a sentence. Empty: nothing stands out.
std::string main_cost(const ReportedPoint& point);

}  // namespace linebounce::sim
