// Reads structures from the output of pahole (package dwarves), which takes them from a program's or kernel's debug
// information.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

inline constexpr const char* kPaholeExtension = ".pahole";

// The structures in the text. A nested structure becomes fields with dotted names. Fields that share bytes (a union, bitfields)
// become one field, with the union's name or all names joined by `|`. A list_head becomes NAME.next and NAME.prev. `file`: the
// text's name in messages. Errors: ConfigError if the text isn't pahole's or is cut off.
std::vector<Layout> parse_pahole(const std::string& text, const std::string& file);

// The cache line size that pahole's comments on line boundaries imply; none if there are no such comments.
std::optional<int> pahole_line_bytes(const std::string& text);

}  // namespace linebounce::sim
