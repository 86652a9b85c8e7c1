#include "forms/line_words.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>

namespace linebounce::sim {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view take_word(std::string_view& text) {
  text = stripped(text);
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text = stripped(text.substr(word.size()));
  return word;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = stripped(text)).empty()) words.push_back(take_word(text));
  return words;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

std::optional<std::vector<int>> listed_numbers(std::string_view text, int most) {
  std::vector<int> numbers;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = stripped(text.substr(begin, end - begin));
    const std::size_t dash = part.find('-');
    const auto first = decimal(part.substr(0, dash));
    const auto last = dash == part.npos ? first : decimal(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last > static_cast<std::uint64_t>(most)) return std::nullopt;
    for (std::uint64_t number = *first; number <= *last; ++number) numbers.push_back(static_cast<int>(number));
    begin = end + 1;
  }
  return numbers;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return number(text, 16);
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  return number(text, 10);
}

}  // namespace linebounce::sim
