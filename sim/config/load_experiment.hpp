// Loads experiments from texts instead of files, or with other workloads and locks than the program's own.
#pragma once

#include <string>

#include "sim/config/experiment.hpp"
#include "sim/config/workload_keys.hpp"

namespace linebounce::sim {

// Like the functions of experiment.hpp, but with the catalogue's workloads and locks. REQUIRES: the objects that `catalogue`
// refers to outlive the experiment.
Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue);
Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue);

// Like load_unexpanded(), but reads `text`, which need not be in a file. `as`: stands for the file's name in messages; paths
// in the text are relative to it.
Experiment read_unexpanded(const std::string& text, const std::string& as, const Overrides& overrides);

}  // namespace linebounce::sim
