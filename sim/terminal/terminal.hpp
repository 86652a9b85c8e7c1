// Printing for subcommands: optional colour, widths in characters rather than bytes, readable numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

constexpr std::size_t kTerminalWidth = 100;     // prose is never wider, and tables do not need more
constexpr std::size_t kWithoutTerminal = 100;   // for a file or pipe, unless COLUMNS is set
constexpr std::size_t kNarrowestTerminal = 72;  // all output fits into this width

enum class Colour { none, bold, dim, red, green, yellow, blue, magenta, cyan };

// The sequences that a Painter writes before and after coloured text.
const std::vector<std::string_view>& colour_sequences();

enum class TableForm { drawn, markdown };

// How to write to one destination: with or without colours, the length of lines, and the form of tables.
class Painter {
 public:
  Painter(bool colour, std::size_t wrap_at, std::size_t columns = kTerminalWidth)
      : colour_(colour), wrap_at_(wrap_at), columns_(columns) {}

  // A copy for Markdown: no colours, and prose is not broken.
  [[nodiscard]] Painter for_markdown() const;
  [[nodiscard]] TableForm tables() const { return tables_; }

  // Coloured text, or the plain text.
  [[nodiscard]] std::string operator()(Colour colour, std::string_view text) const;

  // The column at which prose is broken. In a file or a pipe, prose is not broken, because programs search for whole
  // sentences.
  [[nodiscard]] std::size_t wrap_at() const { return wrap_at_; }

  // The width of lines: the terminal's, or COLUMNS, or kWithoutTerminal.
  [[nodiscard]] std::size_t columns() const { return columns_; }

 private:
  bool colour_;
  std::size_t wrap_at_;
  std::size_t columns_;
  TableForm tables_ = TableForm::drawn;
};

// The width of the terminal behind a file descriptor; none if it is no terminal.
std::optional<std::size_t> terminal_columns(int descriptor);

// The width at which lines are broken: COLUMNS, else the terminal's width; none if lines are not broken.
std::optional<std::size_t> line_columns(int descriptor);

// The painter for standard output. Colour requires a terminal, and an unset NO_COLOR (no-color.org).
Painter painter_for_stdout();

// The number of character cells that a text takes on a terminal. REQUIRES: UTF-8 without wide or combining characters, as in
// all our texts.
std::size_t width_of(std::string_view text);
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);
std::string centred(std::string_view text, std::size_t width);
std::string repeated(std::string_view text, std::size_t times);

// The horizontal line below the head of a table, indented by two.
std::string rule(const Painter& paint, std::size_t width = kTerminalWidth - 4);

// Shortens a text to `width` characters: keeps its beginning and end, with an ellipsis in between.
std::string shortened(std::string_view text, std::size_t width);

// A name broken into lines of at most `width` characters, after dots, underscores and the like if that leaves half a line.
std::vector<std::string> wrapped_name(std::string_view name, std::size_t width);

// Text broken at spaces into lines of at most `width` characters; longer words are broken as in wrapped_name().
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// As wrapped(), but as one text: the first line begins at the cursor, which is in column `column`, and the other lines begin
// below it.
std::string wrapped_from(std::string_view text, std::size_t column, Colour colour, const Painter& paint);

// The same as separate lines with the same indent.
std::string paragraph(std::string_view text, std::size_t indent, Colour colour, const Painter& paint);

// "Results: PLACE". Breaks the line only if the width is known and PLACE is longer.
std::string results_line(const std::string& place, const Painter& paint);

// One paragraph for each assumption about the machines behind an answer (assumptions_of); empty if there are none.
std::string assumptions_text(const std::vector<std::string>& assumptions, const Painter& paint);

// True if tables must leave out columns.
inline bool is_narrow(const Painter& paint) {
  return paint.columns() < kTerminalWidth;
}

// A page's first line: the name in bold, then its title; ends with a newline. `column`: where the title begins. A long title
// wraps there.
std::string titled(const std::string& name, const std::string& title, const Painter& paint, std::size_t column = 0);

// What the trace lacks (trace::Summary::missing), to be shown with its findings; empty if it lacks nothing.
std::string not_seen_text(const std::vector<std::string>& missing, const Painter& paint);

std::string without_trailing_spaces(std::string text);

// "1 234 567".
std::string grouped(std::uint64_t number);

// "1 point", "12 points".
std::string plural(std::uint64_t count, std::string_view noun);

// A figure with its original digits: "12.9 ns".
std::string as_given(double value, const std::string& unit);

// "+1.2 %", "-0.3 %"; "x 21" for +2000 %.
std::string signed_percent(double share);

// "45 s", "3 min 20 s", "2 h 05 min".
std::string readable_duration(double seconds);

}  // namespace linebounce::sim
