#include "sim/terminal/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "models/ordinal.hpp"
#include "models/text/visible.hpp"
#include "sim/answer/quantity.hpp"

namespace linebounce::sim {
namespace {

std::string_view escape_for(Colour colour) {
  return colour_sequences()[ordinal(colour)];
}

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The first `count` characters.
std::string_view head(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (continues(text[end])) continue;
    if (count == 0) break;
    --count;
  }
  return text.substr(0, end);
}

// The environment variable COLUMNS, at least kNarrowestTerminal. None if it is not set or not a positive number.
std::optional<std::size_t> columns_wanted() {
  const char* text = std::getenv("COLUMNS");
  if (text == nullptr) return std::nullopt;
  std::size_t columns = 0;
  const std::string_view all(text);
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), columns);
  if (error != std::errc{} || end != all.data() + all.size() || columns == 0) return std::nullopt;
  return std::max(kNarrowestTerminal, columns);
}

}  // namespace

// The escape sequences, indexed by Colour; Colour::none ends a colour. Blue is bright blue, because dark blue is hardly
// visible on black.
const std::vector<std::string_view>& colour_sequences() {
  static const std::vector<std::string_view> sequences = {"\x1b[0m",  "\x1b[1m",  "\x1b[2m",  "\x1b[31m", "\x1b[32m",
                                                          "\x1b[33m", "\x1b[94m", "\x1b[35m", "\x1b[36m"};
  return sequences;
}

Painter Painter::for_markdown() const {
  Painter paint(false, std::numeric_limits<std::size_t>::max(), kTerminalWidth);
  paint.tables_ = TableForm::markdown;
  return paint;
}

std::string Painter::operator()(Colour colour, std::string_view text) const {
  if (!colour_ || colour == Colour::none || text.empty()) return std::string(text);
  return std::string(escape_for(colour)).append(text).append(escape_for(Colour::none));
}

std::optional<std::size_t> terminal_columns(int descriptor) {
  if (::isatty(descriptor) == 0) return std::nullopt;
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return known ? std::max<std::size_t>(kNarrowestTerminal, size.ws_col) : kTerminalWidth;
}

std::optional<std::size_t> line_columns(int descriptor) {
  const std::optional<std::size_t> wanted = columns_wanted();
  return wanted ? wanted : terminal_columns(descriptor);
}

Painter painter_for_stdout() {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  const std::optional<std::size_t> terminal_width = terminal_columns(STDOUT_FILENO);
  const bool colour = terminal_width && (refused == nullptr || *refused == '\0') && !dumb;
  const std::optional<std::size_t> known = line_columns(STDOUT_FILENO);
  const std::size_t columns = known.value_or(kWithoutTerminal);
  return {colour, known ? std::min(kTerminalWidth, columns) : std::numeric_limits<std::size_t>::max(), columns};
}

std::size_t width_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); });
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = width_of(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = width_of(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::string centred(std::string_view text, std::size_t width) {
  const std::size_t used = width_of(text);
  const std::size_t left = width > used ? (width - used) / 2 : 0;
  return pad_right(std::string(left, ' ') + std::string(text), width);
}

std::string rule(const Painter& paint, std::size_t width) {
  return "  " + paint(Colour::dim, repeated("─", width)) + "\n";
}

std::string shortened(std::string_view text, std::size_t width) {
  const std::size_t used = width_of(text);
  if (used <= width) return std::string(text);
  const std::size_t front = (width - 1) / 2;
  const std::size_t back = width - 1 - front;
  return std::string(head(text, front)) + "…" + std::string(text.substr(head(text, used - back).size()));
}

std::vector<std::string> wrapped_name(std::string_view name, std::size_t width) {
  std::vector<std::string> lines;
  while (width_of(name) > width) {
    std::string_view line = head(name, width);
    const std::size_t stop = line.find_last_of("._-:/ ");
    if (stop != std::string_view::npos && stop >= line.size() / 2) line = line.substr(0, stop + 1);
    lines.emplace_back(line);
    name.remove_prefix(line.size());
  }
  lines.emplace_back(name);
  return lines;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
    if (!lines.back().empty() && width_of(lines.back()) + 1 + width_of(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    const std::vector<std::string> parts = wrapped_name(word, width);
    lines.back() += parts.front();
    lines.insert(lines.end(), parts.begin() + 1, parts.end());
  }
  return lines;
}

std::string wrapped_from(std::string_view text, std::size_t column, Colour colour, const Painter& paint) {
  std::string out;
  for (const std::string& line : wrapped(visible_name(text), paint.wrap_at() - column)) {
    out += (out.empty() ? "" : std::string(column, ' ')) + paint(colour, line) + "\n";
  }
  return out;
}

std::string paragraph(std::string_view text, std::size_t indent, Colour colour, const Painter& paint) {
  return std::string(indent, ' ') + wrapped_from(text, indent, colour, paint);
}

std::string results_line(const std::string& place, const Painter& paint) {
  const bool known = paint.wrap_at() != std::numeric_limits<std::size_t>::max();
  std::string out;
  for (const std::string& line : wrapped_name("Results: " + place, known ? paint.columns() : paint.wrap_at()))
    out += line + "\n";
  return out;
}

std::string assumptions_text(const std::vector<std::string>& assumptions, const Painter& paint) {
  std::string out;
  for (const std::string& sentence : assumptions) out += paragraph(sentence, 2, Colour::yellow, paint);
  return out;
}

std::string titled(const std::string& name, const std::string& title, const Painter& paint, std::size_t column) {
  const std::string bold = paint(Colour::bold, name);
  if (title.empty() || title == name) return bold + "\n";
  return bold + "  " + wrapped_from(title, column + width_of(name) + 2, Colour::none, paint);
}

std::string without_trailing_spaces(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
  return digits;
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string as_given(double value, const std::string& unit) {
  if (unit == "1/s") {
    const Scale scale = scale_of(value, unit);
    return fmt::format("{:.6g} {}", value / scale.factor, scale.name());
  }
  constexpr double kExact = 1e9;  // larger integers are abbreviated
  const bool whole = std::abs(value) < kExact && value == std::trunc(value);
  return fmt::format("{:.{}g}", value, whole ? 10 : 6) + (unit.empty() ? "" : " " + shown_unit(unit));
}

std::string signed_percent(double share) {
  constexpr double kManyTimes = 10;
  if (share >= kManyTimes) return fmt::format("x {:.4g}", share + 1);
  return fmt::format("{:+.1f} %", share * 100);
}

std::string readable_duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace linebounce::sim
