// Cuts a litmus test into its parts, and removes comments.
#pragma once

#include <string>
#include <vector>

namespace linebounce::sim::litmus {

struct TestSection {
  std::string text;  // without comments, whose characters are blanks now
  int line = 1;      // of its beginning
};

struct TestSections {
  // Errors: std::invalid_argument if the test is cut off.
  explicit TestSections(const std::string& text);

  std::vector<std::string> lines;  // of the file, with comments
  TestSection head, initial, body, end;
};

}  // namespace linebounce::sim::litmus
