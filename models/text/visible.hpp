// Makes untrusted text safe to print on a terminal: names from traces, titles, file names, command-line words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace linebounce {

// The length in bytes of the text's first character; 0 if that is not complete, valid UTF-8. REQUIRES: `text` is not empty.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

// Escapes what would act on a terminal: control characters other than newline and tab, marks of writing direction, and bytes
// that are not UTF-8 ("\xff"). JSON and TOML have the same escape "\u001b", so quoted text keeps its meaning.
std::string visible(std::string_view text);
// Does the same for a name within a line, and also escapes newlines and tabs.
std::string visible_name(std::string_view text);

}  // namespace linebounce
