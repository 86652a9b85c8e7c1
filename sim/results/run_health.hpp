// Warnings about a point's figures: starvation, seeds in two groups, a short warm-up, few samples.
#pragma once

#include <string>
#include <vector>

#include "sim/results/reported_point.hpp"

namespace linebounce::sim {

struct HealthFinding {
  int rank = 0;            // kind of finding; smaller is worse
  std::string text;        // about this point: "2 CPUs got less than a tenth of an equal share: ..."
  std::string in_general;  // about several points with this kind of finding: "some CPUs got less than ..."
  std::string detail;      // the part of the text that is specific to the point: "2 CPUs"
};

// The worst first; empty if nothing was found.
std::vector<HealthFinding> health_findings(const ReportedPoint& point);

// The findings' texts.
std::vector<std::string> health_warnings(const ReportedPoint& point);

}  // namespace linebounce::sim
