// Guesses what a user meant by an unknown key or name, for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

// The candidate that equals `key` in another unit, or with a unit if `key` has none ("latency_us" or "latency" for
// "latency_ns"); empty if there is none. Only the last part of a dotted path may differ.
std::string same_in_other_unit(std::string_view key, const std::vector<std::string>& candidates);

// The unit at the end of a key ("ns" of "memory.latency_ns"); empty if it has none.
std::string_view unit_suffix(std::string_view key);

// `; did you mean a, b or c?`; empty if nothing is similar.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// `is not known; known: a, b, c; did you mean b?`, for a value or a name. If there are too many names, and `command` lists
// them all, names only similar ones: "is not known; did you mean b? `linebounce list machines` shows all 26".
std::string not_known(std::string_view word, const std::vector<std::string>& known, std::string_view command = "");

}  // namespace linebounce::sim
