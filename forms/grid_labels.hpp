// The labels of a square table of numbers, which name its CPUs, and triangles, which have one side of the diagonal alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "forms/number_grid.hpp"

namespace linebounce::sim {

// True for digits, points, commas and exponents, in any order.
bool is_number(std::string_view text);
// True for "x" and "self", which say nothing of a pair of CPUs: only the diagonal may have them.
bool is_mark_of_diagonal(std::string_view text);

// Returns a label's number: 3 for "3", "3:", "CPU3", "cpu 3" and "core_3". Returns nothing for any other text.
std::optional<std::uint64_t> label_number(std::string_view text);
// Removes a head and a column of labels if they have the same CPU numbers. Or removes only one of the two, if its labels
// count from 0 or 1 and the rest is then square.
void take_labels(NumberGrid& grid);
// Fills in a triangle whose cells are separated by blanks, which hide the empty cells on the other side of the diagonal. Each
// row must be one cell longer, or one shorter, than the previous one. The diagonal is present if all its cells are 0.
void complete_triangle(NumberGrid& grid);
// Fills in a triangle with a head and labels, whose cells are separated by blanks: each row ends at the diagonal, or begins
// there.
void complete_labelled_triangle(std::vector<GridRow>& rows);
// Fills in a triangle whose rows end at the diagonal. The head's labels give the number of columns. Each row must have its
// label and the cells before the diagonal; the last row may consist of only its label.
void complete_ragged(std::vector<GridRow>& rows);
// Removes the empty cell that a separator at the end of each line leaves.
void take_out_last_cells(std::vector<GridRow>& rows);
// Empties the marks on the diagonal.
void clear_diagonal(NumberGrid& grid);

}  // namespace linebounce::sim
