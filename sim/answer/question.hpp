// The question that an experiment asks.
#pragma once

#include <string>

namespace linebounce::sim {

// The table [question]. Defaults follow from what the sweep varies and from the workload's headlines.
struct Question {
  std::string text;     // "Which lock still serves 32 CPUs?"
  std::string metric;   // the metric by which the alternatives are ranked
  std::string compare;  // the path whose values are the alternatives
};

}  // namespace linebounce::sim
