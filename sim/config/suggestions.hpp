// Guesses what a user meant by an unknown key or name, for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

// Returns the candidate that differs from `key` only in its unit, or has a unit that `key` lacks: "latency_ns" for
// "latency_us" or "latency". Empty if there is none. All parts of a dotted path but the last must be equal.
std::string same_in_other_unit(std::string_view key, const std::vector<std::string>& candidates);

// Returns the candidate that has another word for the key's last part, and the same parts before it: "workload.program" for
// "workload.file". Empty if there is none.
std::string same_by_another_word(std::string_view key, const std::vector<std::string>& candidates);

// Returns the unit at the end of a key ("ns" of "memory.latency_ns"); empty if it has none.
std::string_view unit_suffix(std::string_view key);

// Returns "; did you mean a, b or c?"; empty if no known name is similar.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// The number that a text such as "10ms", "2GHz", "32K" or "1,000" means in `unit` ("us"; empty: a count), as "; did you mean
// 10000?". For "1..4" or "1-4", how a list is written. Empty if neither is meant.
std::string number_meant(std::string_view text, std::string_view unit);

// The message of a missing file, "FILE: there is no such file", with the nearest name in its folder; any other as it is.
std::string with_nearest_file(std::string message);

// Completes a message about an unknown name: "is not known; known: a, b, c; did you mean b?". If there are many names and
// `command` lists them, mentions only similar ones and the command: "is not known; did you mean b? `linebounce list machines`
// shows all 26".
std::string not_known(std::string_view word, const std::vector<std::string>& known, std::string_view command = "");

}  // namespace linebounce::sim
