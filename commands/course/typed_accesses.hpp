// Accesses that are typed on the command line: "P1 R x; P2 W x; P1 R 0x140".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/course/state_table.hpp"
#include "commands/course/trace_files.hpp"

namespace linebounce::sim {

// Reads accesses, separated by semicolons, line ends or as in "(R PE1)(W PE2)". Each has a CPU ("P1", "1", "core 1", "PE1"), an
// operation ("R", "load", "LL", "SC") or both as one word ("r1"), in any order, and a place: hexadecimal digits after 0x,
// digits alone, or a name. No two names share a line; "a[3]" is the fourth word of 4 bytes at a; all accesses without a place
// go to one line. Errors: ConfigError with the number of the access.
std::vector<NamedAccess> typed_accesses(const std::string& text, int line_bytes);

// The accesses that stand in the place of a trace: those of --accesses, or of a file `input` of such accesses, in which # and
// // begin comments. None if `input` is something else. Errors: UsageError if both or neither are given.
std::optional<std::string> accesses_of(const TraceOptions& options, const std::string& input);

}  // namespace linebounce::sim
