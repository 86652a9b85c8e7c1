// Exports the system of check_protocol() as a Murphi model, for an independent model checker (Debian's `rumur`).
#pragma once

#include <string>

#include "models/coherence/protocol.hpp"

namespace linebounce {

// The model has the states, steps and properties of check_protocol() without symmetry. If both find no violation, they count
// the same number of states. REQUIRES: caches >= 1.
std::string murphi_model(const Protocol& protocol, int caches);

}  // namespace linebounce
