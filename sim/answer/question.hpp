// The question of an experiment.
#pragma once

#include <string>

namespace linebounce::sim {

// [question]. Defaults follow from what varies and from the workload's headlines.
struct Question {
  std::string text;     // "Which lock still serves 32 CPUs?"
  std::string metric;   // the metric that decides among the alternatives
  std::string compare;  // the path whose values are the alternatives
};

}  // namespace linebounce::sim
