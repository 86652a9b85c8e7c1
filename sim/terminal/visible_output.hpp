// The only way to the terminal: all output passes through here, so that no name in a trace, title or file can control it.
#pragma once

#include <memory>
#include <string_view>

namespace linebounce::sim {

// While it exists, std::cout and std::cerr print visible() text. On a terminal, our own colours (terminal.hpp) and the progress
// line's return to the beginning of the line pass unchanged. REQUIRES: only one at a time.
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

// Prints "linebounce: " and an error to standard error. A very long line, which may contain the user's text, is cut in the
// middle.
void print_error(std::string_view message);

// Returns to the beginning of the line and clears it.
extern const std::string_view kClearLine;

}  // namespace linebounce::sim
