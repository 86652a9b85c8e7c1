// Loading an experiment from something other than a file, or against workloads and locks that are not the program's own.
#pragma once

#include <string>

#include "sim/config/experiment.hpp"
#include "sim/config/workload_keys.hpp"

namespace linebounce::sim {

// As load_experiment of experiment.hpp. REQUIRES: what `catalogue` refers to outlives the experiment.
Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue);
Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue);

// From a text that is in no file. `as` stands in messages for the file's path, and paths in the text start where that would be.
Experiment read_unexpanded(const std::string& text, const std::string& as, const Overrides& overrides);

}  // namespace linebounce::sim
