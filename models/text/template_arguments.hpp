// Shortens names of C++ for sentences and tables.
#pragma once

#include <string>
#include <string_view>

namespace linebounce {

// Leaves out long template arguments: "std::unordered_map<...>::find" for a name of 170 characters. Short ones stay, as in
// "std::vector<int>". The text may be a sentence that has several such names.
std::string without_template_arguments(std::string_view text);

}  // namespace linebounce
