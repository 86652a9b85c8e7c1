// What a user may have meant: for messages about names that don't exist.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce {

// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other. Upper and lower case are
// the same.
std::size_t edit_distance(std::string_view from, std::string_view to);

// The candidate that `word` is most likely a slip of the pen for, else one that it is a part of ("p3_xeon"); empty if there is
// none. The first of equals wins.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Up to `most` candidates, best first: those that `word` may be a slip of the pen for, then those that begin with it, then
// others that it is a part of, of either the shortest first.
std::vector<std::string> nearest_few(std::string_view word, const std::vector<std::string>& candidates, std::size_t most);

}  // namespace linebounce
