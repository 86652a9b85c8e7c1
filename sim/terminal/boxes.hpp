// Boxes side by side and below each other, for drawings in the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace linebounce::sim {

// Sections of centred lines, divided by rules.
using Box = std::vector<std::vector<std::string>>;

// Boxes side by side, and the columns in which they end in a line downwards.
struct BoxRow {
  std::vector<std::string> lines;
  std::vector<std::size_t> feet;
};

constexpr std::size_t kDrawingIndent = 2;

// All boxes in one width; of more than fit into a line of `columns`, the first ones and the last. REQUIRES: at least one box.
BoxRow side_by_side(const std::vector<Box>& boxes, std::size_t columns);

// What the boxes of a row stand on: a wide box with double lines. `goes_on`: a line leads downwards from its middle.
BoxRow standing_on(const BoxRow& row, const std::vector<std::string>& texts, bool goes_on);

// A box that hangs from the (one) foot of the last row.
BoxRow hanging_from(const BoxRow& row, const Box& box);

// The rows below each other, indented.
std::string drawing(const std::vector<BoxRow>& rows);

}  // namespace linebounce::sim
