// The same small tree as a Murphi model, for a model checker that knows nothing of this project.
#pragma once

#include <string>

#include "models/coherence/checker/tree/check_tree.hpp"

namespace linebounce {

// REQUIRES, errors: as check_tree(); and CheckTooLarge for forwards that carry data or counts. Without symmetry it has as many
// states as check_tree() finds.
std::string tree_murphi_model(const TreeProtocols& protocols, const TreeCheckOptions& options);

}  // namespace linebounce
