// Loads an experiment from something other than a file, or with workloads and locks that are not the program's own.
#pragma once

#include <string>

#include "sim/config/experiment.hpp"
#include "sim/config/workload_keys.hpp"

namespace linebounce::sim {

// As load_experiment() of experiment.hpp, with these workloads and locks. REQUIRES: what `catalogue` refers to outlives the
// experiment.
Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue);
Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue);

// As load_unexpanded(), from a text that is not in a file. Messages name `as` instead of a file, and paths in the text are
// relative to it.
Experiment read_unexpanded(const std::string& text, const std::string& as, const Overrides& overrides);

}  // namespace linebounce::sim
