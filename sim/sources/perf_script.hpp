// Samples as `perf script` prints them; of perf.data, too.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/sources/forms.hpp"

namespace linebounce::sim {

// Of one file. Errors: as ConvertTrace.
Losses convert_perf_script(const std::vector<std::filesystem::path>& files, trace::Writer& out);

}  // namespace linebounce::sim
