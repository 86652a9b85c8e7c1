// The file of a measured table: rows of samples, as profilers print them for one cache line (configs/figures/README.md).
#pragma once

#include <string>
#include <vector>

#include "sim/point/measured_table.hpp"

namespace linebounce::sim {

// Rows of one function, field and access (of its instruction) are one; they come by offset, then as the file has them. Rows
// without a structure are of `structure`. Errors: ConfigError with file and line.
std::vector<MeasuredRow> read_measured_rows(const std::string& text, const std::string& file, const std::string& structure);

}  // namespace linebounce::sim
