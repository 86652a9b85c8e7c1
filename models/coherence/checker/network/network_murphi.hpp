// Exports the system of check_network() as a Murphi model, for an independent model checker (Debian's `rumur`).
#pragma once

#include <string>

#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

// The model has the states, steps and properties of check_network() without symmetry. If both find no violation, they count the
// same number of states. Its first lines define the system's sizes, which may be edited.
std::string murphi_model(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

}  // namespace linebounce
