// The same small system as a Murphi model, for an independent model checker (Debian's `rumur`).
#pragma once

#include <string>

#include "models/coherence/protocol.hpp"

namespace linebounce {

// The model that check_protocol() explores without symmetry: the same states, the same steps, the same properties. Where both
// find nothing wrong they count the same number of states. REQUIRES: caches is 1 or more.
std::string murphi_model(const Protocol& protocol, int caches);

}  // namespace linebounce
