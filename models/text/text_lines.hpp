// Splits a text into lines.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce {

// Returns the lines without their newlines. The last line needs no newline.
inline std::vector<std::string> text_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace linebounce
