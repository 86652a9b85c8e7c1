// One row of a CSV file (RFC 4180), as its fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce {

// Nothing, if a quoted field does not end in this row, or is not followed by a comma. `row` is without its line's end.
std::optional<std::vector<std::string>> split_csv_row(std::string_view row);

}  // namespace linebounce
