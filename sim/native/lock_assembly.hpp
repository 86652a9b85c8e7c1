// The assembly code of a lock in C: finds what can't be simulated, and prepares the rest for the simulator.
#pragma once

#include <string>
#include <vector>

namespace linebounce::sim {

// Something in the code that can't be simulated.
struct Refusal {
  std::string file;
  int line = 0;
  std::string what;
};

struct PreparedAssembly {
  std::string text;
  std::vector<Refusal> refusals;  // if not empty, the text is of no use
};

// Takes the output of `cc -S -g1 -fsanitize=thread` for x86-64.
//
// The result counts pauses, and calls a function in the place of inline assembler that is a fence. For each call of the
// runtime it has an entry in the section linebounce_sites: place in the source, and number of instructions since the call
// before, which are the code's own.
PreparedAssembly prepare_assembly(const std::string& text);

}  // namespace linebounce::sim
