// Checks the assembly code of a lock in C for what can't be simulated, and prepares the rest for the simulator.
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
  std::vector<Refusal> refusals;  // if this is not empty, the text must not be used
};

// Takes the output of `cc -S -g1 -fsanitize=thread` for x86-64.
//
// The result counts pauses, and calls a function in place of inline assembler that is a fence. For each call of the runtime
// it adds an entry to the section linebounce_sites: the place in the source, and the number of the code's own instructions
// since the previous call.
PreparedAssembly prepare_assembly(const std::string& text);

}  // namespace linebounce::sim
