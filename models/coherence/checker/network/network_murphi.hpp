// The same small system on a network as a Murphi model, for an independent model checker (Debian's `rumur`).
#pragma once

#include <string>

#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

// The model that check_network() explores without symmetry: the same states, the same steps, the same properties. Where both
// find nothing wrong they count the same number of states. The sizes of the system stand in its first lines and may be changed
// there.
std::string murphi_model(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

}  // namespace linebounce
