// Refuses code in a C lock's assembly that can't be simulated, and prepares the rest for the simulator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

// Code that can't be simulated, with its place in the source.
struct Refusal {
  std::string file;
  int line = 0;
  std::string what;
};

struct PreparedAssembly {
  std::string text;
  std::vector<Refusal> refusals;  // if any, `text` must not be used
};

// Labels of the places of accesses, which their numbers follow: "linebounce_site_4".
inline constexpr std::string_view kSiteLabel = "linebounce_site_";

// Takes the output of `cc -S -g1 -fsanitize=thread` for x86-64.
//
// The result counts pauses, and calls a function in place of an inline-assembler fence. For each runtime call it adds an entry
// to the section linebounce_sites: the place in the source, and the number of the code's own instructions since the previous
// call, and whether it is an atomic operation or a volatile access.
PreparedAssembly prepare_assembly(const std::string& text);

}  // namespace linebounce::sim
