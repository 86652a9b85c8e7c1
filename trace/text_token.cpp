#include "trace/text_token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "trace/symbol_json.hpp"

namespace linebounce::trace {
namespace {

constexpr std::string_view kSpaces = " \t\r";

bool is_plain(char letter, std::string_view marks) {
  return letter > ' ' && letter <= '~' && letter != '"' && letter != '=' && marks.find(letter) == std::string_view::npos;
}

}  // namespace

std::string quoted_if_needed(std::string_view text, std::string_view marks) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [marks](char letter) { return is_plain(letter, marks); });
  if (plain && text.front() != '#') return std::string(text);
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

bool Scanner::at_end() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpaces), rest_.size()));
  if (rest_.empty()) return true;
  // "#" and a digit are a symbol's number; any other "#" begins a comment.
  return rest_.front() == '#' && (rest_.size() == 1 || rest_[1] < '0' || rest_[1] > '9');
}

bool Scanner::skip(char mark) {
  if (next() != mark || rest_.empty()) return false;
  rest_.remove_prefix(1);
  return true;
}

std::string Scanner::name(std::string_view marks, bool* was_quoted) {
  const bool quoted = next() == '"';
  if (was_quoted != nullptr) *was_quoted = quoted;
  std::size_t end = quoted ? 1 : 0;
  if (!quoted) {
    while (end < rest_.size() && is_plain(rest_[end], marks)) ++end;
    const std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return text;
  }
  while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
  const auto parsed = end < rest_.size() ? nlohmann::json::parse(rest_.substr(0, end + 1), nullptr, false) : nlohmann::json();
  if (!parsed.is_string()) throw FormatError("a name in quotes that does not end, or is no JSON string");
  rest_.remove_prefix(end + 1);
  return parsed.get<std::string>();
}

std::uint64_t Scanner::number(std::string_view what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc{})
    throw FormatError(fmt::format("{} has to be a number from 0 to 2^64 - 1, not {:?}", what, rest_of_word()));
  rest_.remove_prefix(end - rest_.data());
  return value;
}

void Scanner::too_large(std::string_view what, std::uint64_t value, std::uint64_t most) {
  throw FormatError(fmt::format("{} is {}; legal: 0 to {}", what, value, most));
}

std::string_view Scanner::rest_of_word() const {
  return rest_.substr(0, std::min({rest_.find_first_of(kSpaces), rest_.size(), std::size_t{40}}));
}

}  // namespace linebounce::trace
