// A mail quotes lines by marks at their beginning.
#pragma once

#include <string_view>

namespace linebounce {

// A line as it was before mails quoted it: "> > text" is "text".
inline std::string_view without_quote_marks(std::string_view line) {
  while (line.starts_with('>')) line.remove_prefix(line.starts_with("> ") ? 2 : 1);
  return line;
}

}  // namespace linebounce
