// Converts litmus tests in herd's format (.litmus) to Linebounce's (workloads/litmus/litmus_test.hpp).
#pragma once

#include <string>
#include <vector>

namespace linebounce::sim {

struct HerdTest {
  std::string architecture;  // "X86", "AArch64", "C", "LISA"
  std::string name, title;
  std::vector<std::string> threads;    // in Linebounce's notation
  std::string asks;                    // likewise
  std::string condition;               // as written in the file
  bool is_for_all = false;             // the condition is a "forall"; `asks` is its negation, which breaks it
  std::string consistency;             // of the machine that runs it: tso for x86, otherwise ia64, the weakest
  std::string unmodelled;              // whose memory model Linebounce lacks, so that there is no verdict; empty: it has it
  std::vector<std::string> registers;  // by number in Linebounce's test: the name in the file, "0:EAX"
  std::vector<std::string> variables;  // by number in Linebounce's test: the name in the file
  std::string stated;                  // "Never", "Sometimes", "Always": the result that a comment states; empty: none
  bool is_of_c11 = false;              // its C uses <stdatomic.h>
  bool has_partial_fence = false;      // true: a full fence replaces a barrier for only loads or only stores

  [[nodiscard]] std::string joined_threads() const;  // all threads, joined by " || "
};

// Parses a test. `file`: for messages. Errors: trace::TraceError with the line if the text is not such a test, or uses
// something that Linebounce can't express.
HerdTest read_herd_test(const std::string& text, const std::string& file);

}  // namespace linebounce::sim
