// Accesses that are typed on the command line: "P1 R x; P2 W x; P1 R 0x140".
#pragma once

#include <string>
#include <vector>

#include "commands/course/state_table.hpp"

namespace linebounce::sim {

// Reads accesses, separated by semicolons or line ends. Each has a CPU ("P1", "1", "core 1", "PE1"), an operation ("R", "load")
// or both as one word ("r1"), in any order, and a place: hexadecimal digits after 0x, digits alone, or a name. Each name has a
// line of its own, "a[3]" is the fourth word of 4 bytes at a, and without a place all mean the same line. Errors: ConfigError
// with the number of the access.
std::vector<NamedAccess> typed_accesses(const std::string& text, int line_bytes);

}  // namespace linebounce::sim
