// Filters all output, so that control characters in names from a trace, title or file have no effect on the terminal.
#pragma once

#include <memory>
#include <string_view>

namespace linebounce::sim {

// While this object exists, std::cout and std::cerr print visible() text. On a terminal, colours (colour_sequences()) and
// kClearLine still pass unchanged. REQUIRES: at most one such object exists.
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

// Prints "linebounce: " and an error to standard error. Names a file that the message begins with relative to the current
// folder, as it was typed. Shortens a very long line in its middle, because it may quote text of any length.
void print_error(std::string_view message);

// The escape sequence that returns to the beginning of the terminal's line and clears it.
extern const std::string_view kClearLine;

}  // namespace linebounce::sim
