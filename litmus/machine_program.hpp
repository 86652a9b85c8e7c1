// A litmus test in the notation of workloads/litmus, so that the timed machine can run it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "litmus/judge.hpp"

namespace linebounce::sim::litmus {

struct MachineProgram {
  std::string threads;      // of the parameter workload.threads: "x = 1; r0 = y || ..."
  std::string asks;         // of workload.asks
  std::string consistency;  // the machine's model for this test: tso or ia64
  std::string weakened;     // a sentence, if the machine orders more than the test asks for; else empty

  // A final state, as the values of shown_places(). `name`: the end of a metric's name, "r0_1.x_2".
  [[nodiscard]] Outcome outcome(std::string_view name) const;

  // By shown place: the number of the value in the machine's outcome, or what the register holds whatever happens.
  struct Source {
    int position = -1;
    Word value = 0;
  };
  std::vector<Source> sources;
  std::vector<int> variables;  // of the test, by number in the notation: x, y, z, a, ...
};

// Errors: std::invalid_argument, with the reason why the machine can't run the test.
MachineProgram machine_program(const Program& program);

}  // namespace linebounce::sim::litmus
