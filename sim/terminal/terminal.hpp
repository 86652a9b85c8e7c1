// Printing for subcommands: optional colour, widths in characters rather than bytes, readable numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

constexpr std::size_t kTerminalWidth = 100;     // the most columns that prose uses and tables need
constexpr std::size_t kWithoutTerminal = 100;   // columns of a file or pipe, unless COLUMNS is set
constexpr std::size_t kNarrowestTerminal = 72;  // the fewest columns that any output is fitted to

enum class Colour { none, bold, dim, red, green, yellow, blue, magenta, cyan };

// The escape sequences that a Painter writes before and after coloured text.
const std::vector<std::string_view>& colour_sequences();

enum class TableForm { drawn, markdown };

// How to write to one destination: with or without colours, the length of lines, and the form of tables.
class Painter {
 public:
  Painter(bool colour, std::size_t wrap_at, std::size_t columns = kTerminalWidth)
      : colour_(colour), wrap_at_(wrap_at), columns_(columns) {}

  // Returns a copy for Markdown, without colours and without wrapping of prose.
  [[nodiscard]] Painter for_markdown() const;
  [[nodiscard]] TableForm tables() const { return tables_; }

  // The text in a colour, or unchanged if this painter has no colours.
  [[nodiscard]] std::string operator()(Colour colour, std::string_view text) const;

  // The column at which prose is wrapped. For a file or pipe without COLUMNS it is the largest number, because programs
  // search the output for whole sentences.
  [[nodiscard]] std::size_t wrap_at() const { return wrap_at_; }

  // The number of columns of a line: COLUMNS, else the terminal's width, else kWithoutTerminal.
  [[nodiscard]] std::size_t columns() const { return columns_; }

 private:
  bool colour_;
  std::size_t wrap_at_;
  std::size_t columns_;
  TableForm tables_ = TableForm::drawn;
};

// The terminal's number of columns, at least kNarrowestTerminal. None if the descriptor is not a terminal.
std::optional<std::size_t> terminal_columns(int descriptor);

// The number of columns for wrapping: COLUMNS, else the terminal's width. None for a file or pipe without COLUMNS, where
// lines are not wrapped.
std::optional<std::size_t> line_columns(int descriptor);

// The painter for standard output. It has colours if standard output is a terminal, TERM is not "dumb" and NO_COLOR is unset
// or empty (no-color.org).
Painter painter_for_stdout();

// The number of character cells that a text takes on a terminal. REQUIRES: UTF-8 without wide or combining characters.
std::size_t width_of(std::string_view text);
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);
std::string centred(std::string_view text, std::size_t width);
std::string repeated(std::string_view text, std::size_t times);

// The horizontal line below the head of a table, indented by two columns; ends with a newline.
std::string rule(const Painter& paint, std::size_t width = kTerminalWidth - 4);

// Shortens a text to `width` characters: keeps its beginning and end, with an ellipsis in between.
std::string shortened(std::string_view text, std::size_t width);

// A name broken into lines of at most `width` characters, after dots, underscores and the like if that leaves half a line.
std::vector<std::string> wrapped_name(std::string_view name, std::size_t width);

// Text broken at spaces into lines of at most `width` characters; longer words are broken as in wrapped_name().
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// Wraps a text like wrapped() and joins the lines, each ending with a newline. The first line starts at the cursor, which is
// in column `column`; the others are indented to that column.
std::string wrapped_from(std::string_view text, std::size_t column, Colour colour, const Painter& paint);

// The same, but the first line is indented as well.
std::string paragraph(std::string_view text, std::size_t indent, Colour colour, const Painter& paint);

// "Results: PLACE". Wrapped only if standard output is a terminal or COLUMNS is set.
std::string results_line(const std::string& place, const Painter& paint);

// One paragraph for each assumption about the machines behind an answer (assumptions_of); empty if there are none.
std::string assumptions_text(const std::vector<std::string>& assumptions, const Painter& paint);

// True if the terminal is too narrow for all columns of wide tables.
inline bool is_narrow(const Painter& paint) {
  return paint.columns() < kTerminalWidth;
}

// A page's first line: the name in bold, then its title; ends with a newline. `column`: the cursor's column, so that a long
// title wraps below its beginning.
std::string titled(const std::string& name, const std::string& title, const Painter& paint, std::size_t column = 0);

std::string without_trailing_spaces(std::string text);

// "1 234 567".
std::string grouped(std::uint64_t number);

// "1 point", "12 points".
std::string plural(std::uint64_t count, std::string_view noun);

// A figure with the digits that the source gave: "12.9 ns".
std::string as_given(double value, const std::string& unit);

// A share in percent with its sign: "+1.2 %", "-0.3 %"; from +1000 % on as a factor: "x 21" for +2000 %.
std::string signed_percent(double share);

// "45 s", "3 min 20 s", "2 h 05 min".
std::string readable_duration(double seconds);

}  // namespace linebounce::sim
