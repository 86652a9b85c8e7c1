// Litmus tests in herd's format (.litmus), as Linebounce's own (workloads/litmus/litmus_test.hpp).
#pragma once

#include <string>
#include <vector>

namespace linebounce::sim {

struct HerdTest {
  std::string architecture;  // "X86", "AArch64", "C"
  std::string name, title;
  std::vector<std::string> threads;    // in Linebounce's notation
  std::string asks;                    // likewise
  std::string condition;               // as the file has it
  std::string consistency;             // the memory model of ours that it runs under: tso, ia64
  std::vector<std::string> registers;  // by number: "0:EAX"
  std::vector<std::string> variables;  // by number: the file's names
  std::string doubt;                   // a sentence, where that model is not the architecture's; empty: it is

  [[nodiscard]] std::string joined_threads() const;  // with " || " between them
};

// `file` is for messages. Errors: trace::TraceError with the line, for what is no such test and for what has no counterpart
// here.
HerdTest read_herd_test(const std::string& text, const std::string& file);

}  // namespace linebounce::sim
