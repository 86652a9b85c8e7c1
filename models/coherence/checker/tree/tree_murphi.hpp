// Exports the system of check_tree() as a Murphi model, for an independent model checker.
#pragma once

#include <string>

#include "models/coherence/checker/tree/check_tree.hpp"

namespace linebounce {

// The model has as many states as check_tree() finds without symmetry. REQUIRES, errors: as check_tree(), and CheckTooLarge for
// forwards that carry data or numbers of acknowledgements.
std::string tree_murphi_model(const TreeProtocols& protocols, const TreeCheckOptions& options);

}  // namespace linebounce
