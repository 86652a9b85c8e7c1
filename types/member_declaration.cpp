#include "types/member_declaration.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "models/text/trimmed.hpp"

namespace linebounce::types {
namespace {

constexpr std::int64_t kMostArrayElements = std::int64_t{1} << 40;
constexpr int kDeepestDeclarator = 8;  // of parentheses around a name

// `$` and `.` occur in names that compilers make: _vptr.Base
bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.';
}

std::optional<std::int64_t> number_in(std::string_view text) {
  text = trimmed(text);
  const auto number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

// Removes attributes, which stand at the end, and notes the alignment that one demands.
std::string_view without_attributes(std::string_view text, Declaration& declaration) {
  constexpr std::string_view kAligned = "__aligned__(";
  const std::size_t at = text.find("__attribute__");
  if (at == text.npos) return text;
  const std::size_t aligned = text.find(kAligned, at);
  if (aligned != text.npos) {
    std::string_view number = text.substr(aligned + kAligned.size());
    declaration.alignment = take_number(number).value_or(0);
  }
  return trimmed(text.substr(0, at));
}

// Removes the width of a bit-field: ":3" or " : 3".
std::string_view without_width(std::string_view text, Declaration& declaration) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || (colon > 0 && text[colon - 1] == ':')) return text;
  declaration.bits = number_in(text.substr(colon + 1));
  return declaration.bits ? trimmed(text.substr(0, colon)) : text;
}

// Removes the brackets of an array from the end, the last first.
std::string_view without_brackets(std::string_view text, Declaration& declaration) {
  while (text.ends_with(']')) {
    const std::size_t open = text.rfind('[');
    const std::string_view inside = open == text.npos ? "" : trimmed(text.substr(open + 1, text.size() - open - 2));
    const auto elements = inside.empty() ? std::optional<std::int64_t>(0) : number_in(inside);
    if (open == text.npos || !elements) return text;
    const std::int64_t before = declaration.elements.value_or(1);
    declaration.elements = before != 0 && *elements > kMostArrayElements / before ? kMostArrayElements : before * *elements;
    text = trimmed(text.substr(0, open));
  }
  return text;
}

// The end of the parenthesis that opens at `open`.
std::size_t closing_parenthesis(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return text.npos;
}

// Finds the parenthesis around the name of a pointer to a function, array or member: "(*name)", "(Base::*name)". Those within
// the angle brackets of a template belong to its arguments.
std::size_t declarator_in(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && depth > 0 && text[i - 1] != '-') --depth;
    if (text[i] != '(' || depth > 0) continue;
    const std::string_view inside = text.substr(i + 1, closing_parenthesis(text, i) - i - 1);
    const std::size_t star = inside.find_first_of("*&^");
    const bool is_pointer = star == 0 || (star != inside.npos && inside.substr(0, star).ends_with("::"));
    if (is_pointer && inside.find_first_not_of("*& ", star) != inside.npos) return i;
  }
  return text.npos;
}

void split(std::string_view text, Declaration& declaration, int depth);

// The name is the last word: "struct page * pages".
void split_words(std::string_view text, Declaration& declaration) {
  text = without_brackets(text, declaration);
  std::size_t begin = text.size();
  while (begin > 0 && is_name_character(text[begin - 1])) --begin;
  declaration.name = text.substr(begin);
  const std::string_view type = trimmed(text.substr(0, begin));
  if (declaration.type.empty()) declaration.type = type;
  if (!type.ends_with("::*")) return;
  declaration.is_pointer_to_member = true;
  declaration.is_pointer_to_method = type.find(")(") != type.npos;
}

void split(std::string_view text, Declaration& declaration, int depth) {
  text = trimmed(text);
  const std::size_t open = depth < kDeepestDeclarator ? declarator_in(text) : text.npos;
  const std::size_t close = open == text.npos ? open : closing_parenthesis(text, open);
  if (close == text.npos) return split_words(text, declaration);
  // The brackets behind it count elements in pahole's notation, `int (*calls)(int)[3]`. In C they are of what it points to.
  if (text.find(")(", close) == close) without_brackets(text, declaration);
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  const std::size_t star = inside.find_first_of("*&^");
  declaration.is_pointer_to_member = star > 0;
  declaration.is_pointer_to_method = star > 0 && text.find('(', close) != text.npos;
  declaration.type = text;
  split(inside.substr(inside.find_first_not_of("*&^ ", star)), declaration, depth + 1);
}

}  // namespace

Declaration declaration_of(std::string_view text) {
  Declaration declaration;
  text = without_attributes(trimmed(text), declaration);
  text = without_width(text, declaration);
  split(text, declaration, 0);
  return declaration;
}

std::string_view without_keywords(std::string_view type) {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const std::string_view word : {"const ", "volatile ", "struct ", "class ", "union "}) {
      if (!type.starts_with(word)) continue;
      type = trimmed(type.substr(word.size()));
      goes_on = true;
    }
  }
  return type;
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  constexpr int kHexadecimal = 16, kDecimal = 10;
  const bool is_hexadecimal = text.starts_with("0x");
  std::string_view digits = text.substr(is_hexadecimal ? 2 : 0);
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, is_hexadecimal ? kHexadecimal : kDecimal);
  if (error != std::errc{} || number > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  text = digits.substr(end - digits.data());
  return static_cast<std::int64_t>(number);
}

}  // namespace linebounce::types
