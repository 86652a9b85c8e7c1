// What subcommands print with: colour where it is wanted, widths that count characters and not bytes, numbers for people.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

constexpr std::size_t kTerminalWidth = 100;     // prose is never wider, and tables need no more
constexpr std::size_t kWithoutTerminal = 100;   // of a file or pipe, unless COLUMNS says otherwise
constexpr std::size_t kNarrowestTerminal = 72;  // everything that is printed fits from here on

enum class Colour { none, bold, dim, red, green, yellow, blue, magenta, cyan };

// What a Painter writes for its colours, and behind them.
const std::vector<std::string_view>& colour_sequences();

// How to write to one place: with colours or without, and how long a line may be.
class Painter {
 public:
  Painter(bool colour, std::size_t wrap_at, std::size_t columns = kTerminalWidth)
      : colour_(colour), wrap_at_(wrap_at), columns_(columns) {}

  // Coloured text, or the text as it is.
  [[nodiscard]] std::string operator()(Colour colour, std::string_view text) const;

  // Prose is broken into lines here. In a file or a pipe it is not: what reads it there looks for whole sentences.
  [[nodiscard]] std::size_t wrap_at() const { return wrap_at_; }

  // The width of lines: a terminal's, or what COLUMNS says, or kWithoutTerminal.
  [[nodiscard]] std::size_t columns() const { return columns_; }

 private:
  bool colour_;
  std::size_t wrap_at_;
  std::size_t columns_;
};

// The width of the terminal that a file descriptor writes to; none: it writes to something else.
std::optional<std::size_t> terminal_columns(int descriptor);

// Where lines end: at what COLUMNS says, else at the terminal's width; none: nowhere.
std::optional<std::size_t> line_columns(int descriptor);

// For the standard output. Colour needs a terminal, and NO_COLOR not to be set (no-color.org).
Painter painter_for_stdout();

// Characters as the terminal counts them. REQUIRES: UTF-8 without wide or combining characters, as our own texts are.
std::size_t width_of(std::string_view text);
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);
std::string centred(std::string_view text, std::size_t width);
std::string repeated(std::string_view text, std::size_t times);

// A line below the head of a table, indented by two.
std::string rule(const Painter& paint, std::size_t width = kTerminalWidth - 4);

// At most `width` characters; of a longer text the beginning and the end, with an ellipsis between them.
std::string shortened(std::string_view text, std::size_t width);

// A name in lines of at most `width` characters, broken behind dots, underscores and the like if that leaves half a line.
std::vector<std::string> wrapped_name(std::string_view name, std::size_t width);

// Lines of at most `width` characters, broken at spaces; a longer word is broken as wrapped_name() does it.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// The same as one text: the first line goes where the cursor is, in column `column`, the others below it.
std::string wrapped_from(std::string_view text, std::size_t column, Colour colour, const Painter& paint);

// The same as lines of their own, all indented alike.
std::string paragraph(std::string_view text, std::size_t indent, Colour colour, const Painter& paint);

// "Results: PLACE", where a command has left them. Only a place that is longer than a known width of lines is broken.
std::string results_line(const std::string& place, const Painter& paint);

// What is assumed of the machines that an answer rests on (assumptions_of), a paragraph each; empty: nothing.
std::string assumptions_text(const std::vector<std::string>& assumptions, const Painter& paint);

// Whether tables must do with less than they would take.
inline bool is_narrow(const Painter& paint) {
  return paint.columns() < kTerminalWidth;
}

// A page's first line: a name, in bold, and what it is, broken below itself; ends with a newline.
// `column`: where it begins.
std::string titled(const std::string& name, const std::string& title, const Painter& paint, std::size_t column = 0);

// What a trace lacks (trace::Summary::missing), to stand beside what is found in it; empty if it lacks nothing.
std::string not_seen_text(const std::vector<std::string>& missing, const Painter& paint);

// Without the spaces at its end.
std::string trimmed(std::string text);

// "1 234 567".
std::string grouped(std::uint64_t number);

// "1 point", "12 points".
std::string plural(std::uint64_t count, std::string_view noun);

// A figure with the digits that it was given with: "12.9 ns".
std::string as_given(double value, const std::string& unit);

// "+1.2 %", "-0.3 %"; "x 21" for +2000 %.
std::string signed_percent(double share);

// "45 s", "3 min 20 s", "2 h 05 min".
std::string readable_duration(double seconds);

}  // namespace linebounce::sim
