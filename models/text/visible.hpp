// Makes untrusted text safe to print on a terminal: names from traces, titles, file names, command-line words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace linebounce {

// The length in bytes of the text's first character; 0 if it is no complete UTF-8. REQUIRES: not empty.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

// Escapes what would act on a terminal: control characters other than newline and tab, marks of writing direction, and bytes
// that are no UTF-8. "\u001b" is also JSON's and TOML's escape, so quoted text keeps its meaning; a byte becomes "\xff".
std::string visible(std::string_view text);

}  // namespace linebounce
