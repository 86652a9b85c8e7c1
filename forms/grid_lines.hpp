// The lines of a table of numbers, and their cells; joins lines that a terminal has broken.
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "forms/number_grid.hpp"

namespace linebounce::sim {

inline constexpr std::string_view kPlusMinus = "\xc2\xb1";  // stands between a mean and its error

struct TextLine {
  std::string_view text;
  std::size_t number = 1, column = 1;  // position of its first character, from 1
};

// Removes e-mail quote marks.
std::vector<TextLine> lines_of_text(std::string_view text);

// Splits a line at a separator. Cells have no unit ns, and nothing for a mark that means "none", such as a dash.
GridRow split_at(const TextLine& line, char separator);
// Splits a line at blanks. Drops the terminal's colour codes, and the error after a plus-minus sign.
GridRow split_words(const TextLine& line);
// By `separator`, a blank or another.
GridRow split_line(const TextLine& line, char separator);

// The number of characters of the longest line: the terminal's width, if it has broken lines.
std::size_t width_of(const std::vector<TextLine>& lines);

// Puts a line of a text together again that a terminal has broken into lines.
class BrokenLine {
 public:
  // `width`: the terminal's, in characters.
  BrokenLine(const TextLine& first, std::size_t width) : text_(first.text), last_(first), first_(first), width_(width) {}

  // True if the terminal has broken a word, whose rest is in the next line.
  [[nodiscard]] bool is_within_word(const TextLine& next) const;
  // Goes on with the next line of the text. A word is joined again if the break was within it. `has_blanks`: no break was, for
  // blanks at the ends of lines are gone, which made lines look full.
  void add(const TextLine& next, char separator, bool has_blanks = false);
  [[nodiscard]] std::size_t lines() const { return lines_; }
  [[nodiscard]] TextLine line() const { return {text_, first_.number, first_.column}; }
  // The same; `texts` owns the text from now on.
  TextLine line_in(std::list<std::string>& texts);

 private:
  std::string text_;
  TextLine last_, first_;
  std::size_t width_, lines_ = 1;
};

// Joins the lines of a square table of which each row takes the same number of lines, two or more. Returns false, and
// leaves the lines as they are, if there is none.
bool join_broken_rows(std::vector<TextLine>& lines, char separator, std::list<std::string>& texts);

}  // namespace linebounce::sim
