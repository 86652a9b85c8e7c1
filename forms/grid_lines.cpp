#include "forms/grid_lines.hpp"

#include <algorithm>
#include <array>

#include "forms/grid_labels.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kGridBlanks = " \t\r";

std::string_view cell_text(std::string_view raw) {
  constexpr std::array<std::string_view, 10> kNothing = {"-", "--", "---", "n/a", "N/A", "NA", "nan", "NaN", "NAN", "null"};
  constexpr std::string_view kUnit = "ns";
  if (std::ranges::find(kNothing, raw) != kNothing.end()) return {};
  if (!raw.ends_with(kUnit)) return raw;
  const std::string_view figure = stripped(raw.substr(0, raw.size() - kUnit.size()));
  return is_number(figure) ? figure : raw;
}

bool is_blank(char letter) {
  return kGridBlanks.find(letter) != std::string_view::npos;
}

// The number of characters in UTF-8.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

// True if these are the rows of a square table: with a label before each row and, above them, a head, or without both.
bool are_square(const std::vector<TextLine>& rows, char separator) {
  std::vector<std::size_t> cells;
  for (const TextLine& row : rows) cells.push_back(split_line(row, separator).size());
  const std::size_t size = cells.size();
  const bool has_head = cells.front() + 1 == size || cells.front() == size;
  return size > 1 && has_head && std::all_of(cells.begin() + 1, cells.end(), [size](std::size_t one) { return one == size; });
}

}  // namespace

std::vector<TextLine> lines_of_text(std::string_view text) {
  std::vector<TextLine> lines;
  for (std::size_t number = 1, begin = 0; begin <= text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    const std::string_view line = without_quote_marks(whole);
    lines.push_back({line, number, whole.size() - line.size() + 1});
    begin = end + 1;
  }
  return lines;
}

GridRow split_at(const TextLine& line, char separator) {
  GridRow row;
  for (std::size_t begin = 0; begin <= line.text.size();) {
    const std::size_t end = std::min(line.text.find(separator, begin), line.text.size());
    const std::string_view raw = line.text.substr(begin, end - begin);
    const std::size_t first = std::min(raw.find_first_not_of(kGridBlanks), raw.size());
    std::string_view text = stripped(raw);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    row.push_back({cell_text(text), line.number, line.column + begin + first});
    begin = end + 1;
  }
  return row;
}

GridRow split_words(const TextLine& line) {
  constexpr std::string_view kNumber = "0123456789.";
  const std::string_view text = line.text;
  GridRow words;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {
      at = std::min(text.find('m', at), text.size() - 1) + 1;
    } else if (text.substr(at).starts_with(kPlusMinus)) {
      at = std::min(text.find_first_not_of(kNumber, at + kPlusMinus.size()), text.size());
    } else if (is_blank(text[at])) {
      ++at;
    } else {
      const std::size_t end = std::min({text.find_first_of(" \t\r\x1b", at), text.find(kPlusMinus, at), text.size()});
      words.push_back({cell_text(text.substr(at, end - at)), line.number, line.column + at});
      at = end;
    }
  }
  return words;
}

GridRow split_line(const TextLine& line, char separator) {
  return separator == ' ' ? split_words(line) : split_at(line, separator);
}

std::size_t width_of(const std::vector<TextLine>& lines) {
  std::size_t width = 0;
  for (const TextLine& line : lines) width = std::max(width, characters(line.text));
  return width;
}

bool BrokenLine::is_within_word(const TextLine& next) const {
  const bool is_full = !last_.text.empty() && characters(last_.text) == width_ && !is_blank(last_.text.back());
  return is_full && !next.text.empty() && !is_blank(next.text.front());
}

void BrokenLine::add(const TextLine& next, char separator, bool has_blanks) {
  text_ += (separator != ' ' || (!has_blanks && is_within_word(next)) ? "" : " ") + std::string(next.text);
  last_ = next;
  ++lines_;
}

TextLine BrokenLine::line_in(std::list<std::string>& texts) {
  texts.push_back(text_);
  return {texts.back(), first_.number, first_.column};
}

bool join_broken_rows(std::vector<TextLine>& lines, char separator, std::list<std::string>& texts) {
  constexpr std::size_t kMostLinesOfRow = 16;
  std::vector<TextLine> full = lines;
  std::erase_if(full, [](const TextLine& line) { return stripped(line.text).empty(); });
  const std::size_t width = width_of(full);
  for (std::size_t of_row = 2; of_row <= std::min(kMostLinesOfRow, full.size() / 2); ++of_row) {
    if (full.size() % of_row != 0) continue;
    std::list<std::string> whole;
    std::vector<TextLine> rows;
    for (std::size_t first = 0; first < full.size(); first += of_row) {
      BrokenLine row(full[first], width);
      for (std::size_t i = 1; i < of_row; ++i) row.add(full[first + i], separator);
      rows.push_back(row.line_in(whole));
    }
    if (!are_square(rows, separator)) continue;
    texts.splice(texts.end(), whole);
    lines = std::move(rows);
    return true;
  }
  return false;
}

}  // namespace linebounce::sim
