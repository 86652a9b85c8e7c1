// Exports the system that check_tree() checks as a Murphi model, for an independent model checker.
#pragma once

#include <string>

#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

// Returns a model with as many states as check_tree() finds without symmetry reduction. REQUIRES: as for check_tree(). Errors:
// as for check_tree(), and CheckTooLarge if a forward carries data.
std::string tree_murphi_model(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

}  // namespace linebounce
