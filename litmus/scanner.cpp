#include "litmus/scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "models/text/visible.hpp"

namespace linebounce::sim::litmus {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_part(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9');
}

std::string upper_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return out;
}

std::vector<std::string> split_outside_brackets(std::string_view text, char separator) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : separator;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (i < text.size() && (c != separator || depth > 0)) continue;
    parts.emplace_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

std::optional<Word> whole_text_number(std::string_view text) {
  Scanner scanner(text);
  const auto number = scanner.number();
  return scanner.at_end() ? number : std::nullopt;
}

void Scanner::skip_blanks() {
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\n' || rest_.front() == '\r')) {
    if (rest_.front() == '\n') ++line_;
    rest_.remove_prefix(1);
  }
}

bool Scanner::at_end() {
  skip_blanks();
  return rest_.empty();
}

std::string_view Scanner::rest() {
  skip_blanks();
  return rest_;
}

bool Scanner::next_is(std::string_view symbol) {
  return rest().starts_with(symbol);
}

bool Scanner::taken(std::string_view symbol) {
  if (!next_is(symbol)) return false;
  rest_.remove_prefix(symbol.size());
  return true;
}

bool Scanner::taken_word(std::string_view word) {
  if (!next_is(word) || (rest_.size() > word.size() && is_name_part(rest_[word.size()]))) return false;
  rest_.remove_prefix(word.size());
  return true;
}

std::string_view Scanner::name() {
  skip_blanks();
  if (rest_.empty() || !is_name_start(rest_.front())) return {};
  std::size_t end = 1;
  while (end < rest_.size() && (is_name_part(rest_[end]) || rest_[end] == '.')) ++end;
  const std::string_view found = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return found;
}

std::optional<Word> Scanner::number() {
  skip_blanks();
  std::string_view digits = rest_;
  const bool is_negative = digits.starts_with('-');
  if (is_negative) digits.remove_prefix(1);
  const bool is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hexadecimal) digits.remove_prefix(2);
  const std::size_t end =
      std::min(digits.find_first_not_of(is_hexadecimal ? "0123456789abcdefABCDEF" : "0123456789"), digits.size());
  if (end == 0) return std::nullopt;
  constexpr std::size_t kMostDigits = 15;
  if (end > kMostDigits) throw std::invalid_argument(fmt::format("{} has too many digits", digits.substr(0, end)));
  Word value = 0;
  std::from_chars(digits.data(), digits.data() + end, value, is_hexadecimal ? 16 : 10);
  rest_.remove_prefix(digits.data() + end - rest_.data());
  return is_negative ? -value : value;
}

void Scanner::expect(std::string_view symbol) {
  if (!taken(symbol)) wanted(fmt::format("\"{}\"", symbol));
}

void Scanner::wanted(std::string_view what) {
  const std::string_view next = rest().substr(0, std::min<std::size_t>(rest_.find('\n'), 30));
  throw std::invalid_argument(next.empty() ? fmt::format("expected {} before the end", what)
                                           : fmt::format("expected {} before \"{}\"", what, visible_name(next)));
}

}  // namespace linebounce::sim::litmus
