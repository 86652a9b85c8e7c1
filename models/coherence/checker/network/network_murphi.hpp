// Exports the system that check_network() checks as a Murphi model, for an independent model checker (Debian's `rumur`).
#pragma once

#include <string>

#include "models/coherence/checker/murphi.hpp"
#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

// Returns a model with the same states, steps and properties as check_network() without symmetry reduction. If neither the
// independent checker nor check_network() finds a violation, both count the same number of states. The model's first lines
// define the system's sizes, and may be edited. For `any` reader it lacks the property that every request can finish.
// REQUIRES: as for check_network(), without `last_caches`.
std::string murphi_model(const NetworkProtocols& protocols, const NetworkCheckOptions& options, MurphiReader reader);

}  // namespace linebounce
