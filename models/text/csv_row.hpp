// Reads CSV (RFC 4180) row by row. A row may span several lines, since a quoted field may hold a newline.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce {

// Takes the first row, with its line end, from the front of `text`. REQUIRES: `text` is not empty. Returns nothing if a quoted
// field has no closing quote, or is followed by neither a separator nor a line end; `text` is unspecified then.
std::optional<std::vector<std::string>> take_csv_row(std::string_view& text, char separator = ',');

}  // namespace linebounce
