// Exports the systems that check_protocol() and check_network() check as Murphi models, for an independent model checker
// (Debian's `rumur`).
#pragma once

#include <string>

#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

// Returns a model with the same states, steps and properties as check_protocol(), or check_network(), without symmetry
// reduction. If neither the independent checker nor ours finds a violation, both count the same number of states. A model's
// first lines define the system's sizes, and may be edited. REQUIRES: caches >= 1; the options are as for check_network(),
// without `last_caches`.
std::string murphi_model(const Protocol& protocol, int caches);
std::string murphi_model(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

}  // namespace linebounce
