// Loading an experiment against other workloads and locks than the program's own: for tests.
#pragma once

#include <string>

#include "sim/config/experiment.hpp"
#include "sim/config/workload_keys.hpp"

namespace linebounce {

// As load_experiment of experiment.hpp. REQUIRES: what `catalogue` refers to outlives the experiment.
Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue);

}  // namespace linebounce
