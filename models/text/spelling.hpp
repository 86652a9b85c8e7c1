// Guesses which name a user meant, for messages about unknown names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce {

// The number of insertions, deletions, replacements and swaps of adjacent letters between two words, ignoring case.
std::size_t edit_distance(std::string_view from, std::string_view to);

// The candidate that `word` most likely misspells. If there is none, a candidate that contains `word`; if there is none either,
// an empty string. Of equally good candidates, the first wins.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Up to `most` candidates, best first: those that `word` may misspell, then those that begin with `word`, then those that
// contain `word`. Among the last two kinds, shorter candidates come first.
std::vector<std::string> nearest_few(std::string_view word, const std::vector<std::string>& candidates, std::size_t most);

}  // namespace linebounce
