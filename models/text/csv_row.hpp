// CSV (RFC 4180) row by row, each as its fields. A row is a line, or several: a quoted field may hold a line's end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce {

// Takes the first row, with the end of its line, from the front of `text`. REQUIRES: `text` is not empty. Nothing, if a quoted
// field does not end, or is followed by neither a comma nor the line's end; then what has been taken is unspecified.
std::optional<std::vector<std::string>> take_csv_row(std::string_view& text);

}  // namespace linebounce
