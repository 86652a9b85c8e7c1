// Guesses what a user meant, for messages about unknown names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce {

// The number of insertions, deletions, replacements and swaps of neighbours between two words, ignoring case.
std::size_t edit_distance(std::string_view from, std::string_view to);

// The candidate that `word` most likely misspells, else one that contains it ("p3_xeon"); empty if there is none. The first of
// equals wins.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Up to `most` candidates, best first: those that `word` may misspell, then those that begin with it, then those that contain
// it, the shortest first.
std::vector<std::string> nearest_few(std::string_view word, const std::vector<std::string>& candidates, std::size_t most);

}  // namespace linebounce
