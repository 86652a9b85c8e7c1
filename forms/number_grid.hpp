// Splits square tables of numbers, one row and column per CPU, as various tools and spreadsheets write them.
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

struct GridCell {
  std::string_view text;  // without blanks at its ends; empty if the cell has nothing or a dash
  std::size_t line = 1, column = 1;
};
using GridRow = std::vector<GridCell>;

struct NumberGrid {
  std::vector<GridRow> rows;  // without the head and the labels
  bool is_marked = false;     // true: something besides the square shape identifies it
  bool in_cycles = false;     // instead of nanoseconds
  bool decimal_commas = false;
  bool is_refused_table = false;  // `problem` is what the figures mean, not their form: a table, recognised and refused
  // An error that was found while splitting, and its cell; empty: none.
  std::string problem = {};
  GridCell problem_at = {};
  int further_tables = 0;              // tables behind the one that was read
  std::list<std::string> joined = {};  // lines that a terminal had broken; cells refer to them

  [[nodiscard]] bool is_square() const;
};

// Splits a text at commas, semicolons, tabs or blanks, and removes titles, a head and labels with CPU numbers. Also reads the
// terminal output of core-to-core-latency ("576±6"), pingpong, and lists of pairs, also if a terminal has broken their lines.
// Cells refer to `text`, which must outlive them.
NumberGrid split_grid(std::string_view text);

}  // namespace linebounce::sim
