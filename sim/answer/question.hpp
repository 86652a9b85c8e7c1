// What an experiment asks.
#pragma once

#include <string>

namespace linebounce::sim {

// [question]. What it leaves out follows from what varies and from the workload's headlines.
struct Question {
  std::string text;     // "Which lock still serves 32 CPUs?"
  std::string metric;   // by which the alternatives are judged
  std::string compare;  // the path whose values are the alternatives
};

}  // namespace linebounce::sim
