// What subcommands print with: colour where it is wanted, widths that count characters and not bytes, numbers for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce {

constexpr std::size_t kTerminalWidth = 100;  // everything that is printed fits

enum class Colour { none, bold, dim, red, green, yellow, blue, magenta, cyan };

// Colours text, or leaves it as it is.
class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  [[nodiscard]] std::string operator()(Colour colour, std::string_view text) const;

 private:
  bool colour_;
};

// Colour for the standard output: a terminal, and NO_COLOR is not set (no-color.org).
Painter painter_for_stdout();

// Characters as the terminal counts them. REQUIRES: UTF-8 without wide or combining characters, as our own texts are.
std::size_t width_of(std::string_view text);
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);
std::string centred(std::string_view text, std::size_t width);
std::string repeated(std::string_view text, std::size_t times);

// At most `width` characters; of a longer text the beginning and the end, with an ellipsis between them.
std::string shortened(std::string_view text, std::size_t width);

// Lines of at most `width` characters, broken at spaces.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// "12.86", "160.0", "1234567": four digits or all of the integer part.
std::string readable(double value);
std::string readable(double value, const std::string& unit);

// "+1.2 %", "-0.3 %".
std::string signed_percent(double share);

// "1.5 µs" for 1500.
std::string readable_ns(double ns);

// "45 s", "3 min 20 s", "2 h 05 min".
std::string readable_duration(double seconds);

}  // namespace linebounce
