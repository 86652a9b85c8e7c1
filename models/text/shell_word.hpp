// Words for sh.
#pragma once

#include <string>
#include <string_view>

namespace linebounce {

// As one word, whatever is in it: it's -> 'it'\''s'.
inline std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace linebounce
