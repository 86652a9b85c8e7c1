// How deep TOML text nests. The parser bounds values within values, but not the parts of a dotted key, and takes tables down
// by recursion: a text of a few kilobytes could exhaust the stack.
#pragma once

#include <string>
#include <string_view>

namespace linebounce::sim {

constexpr int kDeepestKey = 32;    // parts of a dotted key, or of a table's header
constexpr int kDeepestValue = 32;  // arrays and inline tables within each other

// Errors: ConfigError with line and column. Of text that is no TOML, what stands before the first mistake is looked at.
void check_depth(std::string_view text, const std::string& file);

}  // namespace linebounce::sim
