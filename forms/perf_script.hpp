// Reads samples as `perf script` prints them; converts perf.data by running `perf script`.
#pragma once

#include <filesystem>
#include <vector>

#include "forms/forms.hpp"

namespace linebounce::sim {

// `files`: exactly one. Errors: as for ConvertTrace.
Losses convert_perf_script(const std::vector<std::filesystem::path>& files, trace::Writer& out);

}  // namespace linebounce::sim
