// Warnings about a point's figures: starvation, two modes, too short a warm-up, few samples.
#pragma once

#include <string>
#include <vector>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

struct HealthFinding {
  int rank = 0;            // smaller for a worse kind of finding
  std::string text;        // for this point: "2 CPUs got less than a tenth of an equal share: ..."
  std::string in_general;  // the same for several points with this kind of finding: "some CPUs got less than ..."
  std::string detail;      // the part of the text that differs between points: "2 CPUs"
};

// The worst first; empty if nothing was found.
std::vector<HealthFinding> health_findings(const ReportedPoint& point);

// The findings' texts.
std::vector<std::string> health_warnings(const ReportedPoint& point);

}  // namespace linebounce::sim
