// The one way to the terminal: whatever is printed passes here, so that no name of a trace, title or file acts on it.
#pragma once

#include <memory>
#include <string_view>

namespace linebounce::sim {

// While it lives, std::cout and std::cerr print visible() text. On a terminal our own colours (terminal.hpp) and the progress
// line's return to the line's beginning are let through. REQUIRES: one at a time.
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

// "linebounce: " and an error on the standard error. Of a line that is very long, as it holds what a user has given, the
// beginning and the end.
void print_error(std::string_view message);

// Back to the beginning of the line, which is cleared.
extern const std::string_view kClearLine;

}  // namespace linebounce::sim
