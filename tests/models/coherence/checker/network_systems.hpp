// The shipped network protocols, with the partners they are checked with.
#pragma once

#include <algorithm>
#include <string>

#include "models/coherence/checker/network/prove_network.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {

// The protocol with its partners. A home without caches of its own is checked with the node controller that names it.
inline NetworkProtocols shipped_network(const std::string& name) {
  const bool home = std::ranges::find(kShippedHomes, name) != kShippedHomes.end();
  const auto* const node = std::ranges::find_if(
      kShippedNodes, [&](const char* other) { return home && shipped_protocol(other).directory_partner == name; });
  const Protocol subject = shipped_protocol(home ? *node : name);
  if (subject.kind == ProtocolKind::directory) return {.directory = subject};
  return {shipped_protocol(subject.directory_partner), subject, shipped_protocol(subject.bus_partner)};
}

}  // namespace linebounce::test
