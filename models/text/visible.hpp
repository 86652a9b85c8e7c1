// Text of others on its way to a terminal: names from traces, titles, file names, words of the command line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace linebounce {

// The bytes of the character that the text begins with; 0 if they are no UTF-8, or not all there. REQUIRES: not empty.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

// What would act on a terminal is spelled out: control characters but for newline and tab, marks that reverse the direction of
// writing, and bytes that are no UTF-8. "\u001b" is what JSON and TOML have for it, so that quoted text stays what it is; a
// byte is "\xff".
std::string visible(std::string_view text);

}  // namespace linebounce
