// All output goes to the terminal through this filter, so that control characters in names from a trace, title or file have
// no effect.
#pragma once

#include <memory>
#include <string_view>

namespace linebounce::sim {

// While this object exists, std::cout and std::cerr print visible() text. On a terminal, two of our own sequences pass
// unchanged: colours (terminal.hpp), and the progress line's return to the beginning of the line. REQUIRES: only one at a
// time.
class VisibleOutput {
 public:
  VisibleOutput();
  ~VisibleOutput();
  VisibleOutput(const VisibleOutput&) = delete;
  VisibleOutput& operator=(const VisibleOutput&) = delete;

 private:
  class Filter;
  std::unique_ptr<Filter> out_, err_;
};

// Prints "linebounce: " and an error to standard error. A very long line, which may contain text from the user, is cut in its
// middle.
void print_error(std::string_view message);

// Returns to the beginning of the line and clears it.
extern const std::string_view kClearLine;

}  // namespace linebounce::sim
