// Reads structures from the output of gdb's `ptype /o`, which prints offsets and sizes in front of members.
#pragma once

#include <string>

namespace linebounce::sim {

// Rewrites the text as pahole would print it, line by line, for parse_pahole(): `/*  8 |  4 */ int count;` becomes
// `int count; /* 8 4 */`. Methods, static members and gdb's prompts are left out.
std::string pahole_text_of_ptype(const std::string& text);

}  // namespace linebounce::sim
