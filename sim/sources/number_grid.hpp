// Tables of figures with a row and a column for each CPU, in the ways in which tools and spreadsheets write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/sources/losses.hpp"

namespace linebounce::sim {

struct GridCell {
  std::string_view text;  // without blanks around it; empty: nothing, or a dash that stands for nothing
  std::size_t line = 1, column = 1;
};
using GridRow = std::vector<GridCell>;

struct NumberGrid {
  std::vector<GridRow> rows;  // without head and labels
  std::string_view form;      // "a matrix with the CPUs' numbers", a noun phrase
  bool is_marked = false;     // by more than being square
  bool in_cycles = false;     // not nanoseconds
  bool decimal_commas = false;
  // What is wrong with it, and where; empty: nothing was seen by splitting alone.
  std::string problem = {};
  GridCell problem_at = {};

  [[nodiscard]] bool is_square() const;
};

// Splits at commas, semicolons, tabs or blanks; takes off a head and labels that number the CPUs; reads core-to-core-latency's
// form on the terminal ("576±6") and MCTOP's list of pairs. Cells stay parts of `text`.
NumberGrid split_grid(std::string_view text);

}  // namespace linebounce::sim
