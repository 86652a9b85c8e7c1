// Samples as `perf script` prints them, also from perf.data.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/sources/forms.hpp"

namespace linebounce::sim {

// Converts a single file. Errors: as for ConvertTrace.
Losses convert_perf_script(const std::vector<std::filesystem::path>& files, trace::Writer& out);

}  // namespace linebounce::sim
