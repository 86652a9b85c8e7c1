// Words and numbers of a line of text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

// Returns the text without blanks at its ends.
std::string_view stripped(std::string_view text);
// Removes the first word and the blanks around it from the text, and returns it.
std::string_view take_word(std::string_view& text);
std::vector<std::string_view> words_of(std::string_view text);
// Of ASCII's letters alone.
std::string lower_case(std::string_view text);
bool is_letter(char letter);
// Parses a list of numbers such as "0-3,8". Returns nothing if the text is not such a list, or if a number is above `most`.
std::optional<std::vector<int>> listed_numbers(std::string_view text, int most);
// These parse the whole text: hexadecimal (with or without 0x), or decimal. They return nothing if it is not a number or too
// large.
std::optional<std::uint64_t> hexadecimal(std::string_view text);
std::optional<std::uint64_t> decimal(std::string_view text);

}  // namespace linebounce::sim
