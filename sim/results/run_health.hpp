// What makes a point's figures mean less than they seem to: starvation, two modes, a warm-up that was too short, few samples.
#pragma once

#include <string>
#include <vector>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

struct HealthFinding {
  int rank = 0;            // the worst kind first
  std::string text;        // of this point: "2 CPUs got less than a tenth of an equal share: ..."
  std::string in_general;  // of several points with this kind of finding: "some CPUs got less than ..."
  std::string detail;      // what differs between them: "2 CPUs"
};

// Worst first; none: nothing of what is looked at was found.
std::vector<HealthFinding> health_findings(const ReportedPoint& point);

// Their texts.
std::vector<std::string> health_warnings(const ReportedPoint& point);

}  // namespace linebounce::sim
