// Square tables of numbers with a row and a column per CPU, as various tools and spreadsheets write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

struct GridCell {
  std::string_view text;  // without outer blanks; empty: nothing, or a dash
  std::size_t line = 1, column = 1;
};
using GridRow = std::vector<GridCell>;

struct NumberGrid {
  std::vector<GridRow> rows;  // without the head and the labels
  bool is_marked = false;     // recognised by more than its square shape
  bool in_cycles = false;     // instead of nanoseconds
  bool decimal_commas = false;
  // An error found while splitting, and its cell; empty: none so far.
  std::string problem = {};
  GridCell problem_at = {};

  [[nodiscard]] bool is_square() const;
};

// Splits at commas, semicolons, tabs or blanks; removes a head and labels with CPU numbers; reads core-to-core-latency's
// terminal output ("576±6") and MCTOP's list of pairs. Cells refer to `text`, which must outlive them.
NumberGrid split_grid(std::string_view text);

}  // namespace linebounce::sim
