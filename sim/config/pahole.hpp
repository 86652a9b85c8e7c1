// Reads structures from the output of pahole (package dwarves), which prints a program's or kernel's debug information.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

inline constexpr const char* kPaholeExtension = ".pahole";

// Returns the structures in the text. A nested structure becomes fields with dotted names. Fields that share bytes become one
// field: a union has its own name, bitfields have their names joined by `|`. A list_head becomes NAME.next and NAME.prev.
// `file`: the text's name in messages. Errors: ConfigError if the text isn't pahole's or is cut off.
std::vector<Layout> parse_pahole(const std::string& text, const std::string& file);

// Derives the cache line size from pahole's comments on line boundaries and sizes; none if no comment implies it.
std::optional<int> pahole_line_bytes(const std::string& text);

}  // namespace linebounce::sim
