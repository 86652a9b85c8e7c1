// The merged metrics of one point of an experiment.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/point/config_value.hpp"
#include "sim/results/merge_seeds.hpp"

namespace linebounce::sim {

struct ReportedPoint {
  std::vector<std::pair<std::string, ConfigValue>> at;
  std::map<std::string, ReportedMetric> metrics;
  bool finished = true;
  bool failed = false;  // true if the point was run and failed
};

}  // namespace linebounce::sim
