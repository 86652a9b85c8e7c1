// Exports the system that check_protocol() checks as a Murphi model, for an independent model checker (Debian's `rumur`).
#pragma once

#include <cstdint>
#include <string>

#include "models/coherence/protocol.hpp"

namespace linebounce {

// The program that will read the model. Only rumur reads liveness properties.
enum class MurphiReader : std::uint8_t { any, rumur };

// Returns a model with the same states, steps and properties as check_protocol() without symmetry reduction. If neither the
// independent checker nor check_protocol() finds a violation, both count the same number of states. For `any` reader it lacks
// the property that every request can finish. REQUIRES: caches >= 1.
std::string murphi_model(const Protocol& protocol, int caches, MurphiReader reader);

}  // namespace linebounce
