// Structures from the output of pahole (package dwarves), which reads them from a program's or kernel's debug information.
#pragma once

#include <string>
#include <vector>

#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

inline constexpr const char* kPaholeExtension = ".pahole";

// The structures that stand in the text. A structure within a structure becomes fields with dotted names; what shares bytes (a
// union, bitfields) becomes one field, of the union's name or of all names with `|` between them; a list_head becomes NAME.next
// and NAME.prev. `file` is what messages call the text. Errors: ConfigError where the text isn't pahole's or is cut off.
std::vector<Layout> parse_pahole(const std::string& text, const std::string& file);

}  // namespace linebounce::sim
