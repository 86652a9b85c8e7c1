// Marks that mails and Windows programs put at the beginning of lines and texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/text/text_lines.hpp"

namespace linebounce {

// Begins a text in UTF-8 that a Windows program wrote.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// A line as it was before mails quoted it: "> > text" is "text".
inline std::string_view without_quote_marks(std::string_view line) {
  while (line.starts_with('>')) line.remove_prefix(line.starts_with("> ") ? 2 : 1);
  return line;
}

inline std::vector<std::string> unquoted_lines(std::string_view text) {
  std::vector<std::string> lines = text_lines(text);
  for (std::string& line : lines) line.erase(0, line.size() - without_quote_marks(line).size());
  return lines;
}

}  // namespace linebounce
