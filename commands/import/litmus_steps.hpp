// How the timed machine came to end a litmus test in a certain way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "litmus/machine_program.hpp"

namespace linebounce::sim {

// One round's operations on the test's variables.
struct RoundSteps {
  std::int64_t round = 0;          // counts from 1
  std::vector<std::string> steps;  // a sentence for each, in order of time
};

// The first of `rounds` rounds that ends in this outcome; nothing if none does. `experiment`: the file that ran the test.
// `machine`: the name of its machine.
std::optional<RoundSteps> steps_to(const litmus::Outcome& outcome, const litmus::Program& program,
                                   const litmus::MachineProgram& test, const std::string& machine,
                                   const std::string& experiment, std::int64_t rounds);

}  // namespace linebounce::sim
