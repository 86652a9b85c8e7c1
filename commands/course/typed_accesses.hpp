// Accesses that are typed on the command line: "P1 R x; P2 W x; P1 R 0x140".
#pragma once

#include <string>
#include <vector>

#include "commands/course/state_table.hpp"

namespace linebounce::sim {

// Reads accesses, separated by semicolons, line ends or as in "(R PE1)(W PE2)". Each has a CPU ("P1", "1", "core 1", "PE1"), an
// operation ("R", "load", "LL", "SC") or both as one word ("r1"), in any order, and a place: hexadecimal digits after 0x,
// digits alone, or a name. No two names share a line; "a[3]" is the fourth word of 4 bytes at a; all accesses without a place
// go to one line. Errors: ConfigError with the number of the access.
std::vector<NamedAccess> typed_accesses(const std::string& text, int line_bytes);

// True if the text is nothing but such accesses.
bool are_typed_accesses(const std::string& text);

}  // namespace linebounce::sim
