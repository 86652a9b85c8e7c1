// Quoting for sh.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce {

// Quotes a text as one word for sh: it's -> 'it'\''s'. A text without characters that are special to sh stays as it is.
inline std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

// Quotes each word, and joins the words with blanks.
inline std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

// Splits a line that shell_line() made into its words, so that they can run without sh. Returns nothing for any other line,
// which sh may read differently.
inline std::optional<std::vector<std::string>> words_of_shell_line(std::string_view line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\'') {
      quoted = !quoted;
    } else if (!quoted && line[i] == ' ') {
      words.emplace_back();
    } else {
      if (!quoted && line[i] == '\\') ++i;
      if (i < line.size()) words.back() += line[i];
    }
  }
  if (line.empty() || shell_line(words) != line) return std::nullopt;
  return words;
}

}  // namespace linebounce
