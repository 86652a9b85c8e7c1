#include "sim/terminal/boxes.hpp"

#include <algorithm>

#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kGap = " ";
constexpr std::size_t kEllipsisWidth = 7;
constexpr int kEllipsis = -1;

std::size_t inner_width(const Box& box) {
  std::size_t width = 0;
  for (const auto& section : box) {
    for (const std::string& line : section) width = std::max(width, width_of(line));
  }
  return width + 2;
}

// A border with `mark` in its middle.
std::string border(const char* left, const char* line, const char* mark, const char* right, std::size_t inner) {
  return left + repeated(line, inner / 2) + mark + repeated(line, inner - inner / 2 - 1) + right;
}

std::vector<std::string> drawn(const Box& box, std::size_t inner, const char* top_mark, const char* bottom_mark) {
  std::vector<std::string> lines = {border("┌", "─", top_mark, "┐", inner)};
  for (std::size_t i = 0; i < box.size(); ++i) {
    if (i > 0) lines.push_back("├" + repeated("─", inner) + "┤");
    for (const std::string& line : box[i]) lines.push_back("│" + centred(line, inner) + "│");
  }
  lines.push_back(border("└", "─", bottom_mark, "┘", inner));
  return lines;
}

// The boxes to draw: all, or the first ones, a gap and the last.
std::vector<int> chosen(int boxes, std::size_t box_width, std::size_t room) {
  std::size_t count = (room + 1) / (box_width + 1);
  const bool all = static_cast<std::size_t>(boxes) <= count;
  if (!all) count = (room - kEllipsisWidth - box_width) / (box_width + 1);
  std::vector<int> numbers;
  for (int box = 0; box < (all ? boxes : static_cast<int>(count)); ++box) numbers.push_back(box);
  if (!all) numbers.insert(numbers.end(), {kEllipsis, boxes - 1});
  return numbers;
}

}  // namespace

BoxRow side_by_side(const std::vector<Box>& boxes, std::size_t columns) {
  std::size_t inner = 0;
  std::size_t height = 0;
  for (const Box& box : boxes) inner = std::max(inner, inner_width(box));
  for (const Box& box : boxes) height = std::max(height, drawn(box, inner, "─", "┬").size());
  BoxRow row;
  row.lines.resize(height);
  std::size_t column = 0;
  bool after_box = false;
  for (const int number : chosen(static_cast<int>(boxes.size()), inner + 2, columns - kDrawingIndent)) {
    if (number == kEllipsis) {
      for (std::size_t i = 0; i < height; ++i) row.lines[i] += centred(i == height / 2 ? "..." : "", kEllipsisWidth);
      column += kEllipsisWidth;
      after_box = false;
      continue;
    }
    const std::vector<std::string> lines = drawn(boxes[number], inner, "─", "┬");
    for (std::size_t i = 0; i < height; ++i) row.lines[i] += (after_box ? kGap : "") + lines.at(i);
    column += after_box ? 1 : 0;
    row.feet.push_back(column + 1 + inner / 2);
    column += inner + 2;
    after_box = true;
  }
  return row;
}

BoxRow standing_on(const BoxRow& row, const std::vector<std::string>& texts, bool goes_on) {
  const std::size_t inner = std::max(width_of(row.lines.front()) - 2, inner_width({texts}));
  std::string top;
  for (std::size_t column = 1; column <= inner; ++column) {
    const bool foot = std::find(row.feet.begin(), row.feet.end(), column) != row.feet.end();
    top += foot ? "╧" : "═";
  }
  BoxRow below;
  below.lines.push_back("╔" + top + "╗");
  for (const std::string& text : texts) below.lines.push_back("║" + centred(text, inner) + "║");
  below.lines.push_back(border("╚", "═", goes_on ? "╤" : "═", "╝", inner));
  if (goes_on) below.feet = {1 + inner / 2};
  return below;
}

BoxRow hanging_from(const BoxRow& row, const Box& box) {
  const std::size_t inner = inner_width(box);
  const std::size_t foot = row.feet.front();
  const std::size_t shift = foot > 1 + inner / 2 ? foot - 1 - inner / 2 : 0;
  BoxRow below;
  for (const std::string& line : drawn(box, inner, "┴", "─")) {
    below.lines.push_back(std::string(shift, ' ') + line);
  }
  return below;
}

std::string drawing(const std::vector<BoxRow>& rows) {
  std::string out;
  for (const BoxRow& row : rows) {
    for (const std::string& line : row.lines) out += std::string(kDrawingIndent, ' ') + trimmed(line) + "\n";
  }
  return out;
}

}  // namespace linebounce::sim
