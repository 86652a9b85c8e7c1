// Proves a protocol on a network in several small systems. Some bugs need three nodes, others two caches in a node, and both
// together have too many states.
#pragma once

#include <optional>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

struct NetworkProof {
  std::vector<NetworkCheckOptions> systems;  // those checked: a violation ends the proof
  std::vector<NetworkCheckResult> results;   // by system
  std::vector<UnreachedRow> unreached;       // rows that ran in none of them; empty after a violation

  // The last system's.
  [[nodiscard]] const std::optional<NetworkViolation>& violation() const { return results.back().violation; }
  // Whether the systems are large enough for every row of a correct protocol: three agents that race, and two caches in a node.
  [[nodiscard]] bool all_rows_can_run(const NetworkProtocols& protocols) const;
  [[nodiscard]] bool proved(const NetworkProtocols& protocols) const {
    return !violation() && (unreached.empty() || !all_rows_can_run(protocols));
  }
};

// The systems to check by default.
std::vector<NetworkCheckOptions> default_systems(const NetworkProtocols& protocols);

// REQUIRES: at least one system; else as check_network(), as are the errors.
NetworkProof prove_network(const NetworkProtocols& protocols, const std::vector<NetworkCheckOptions>& systems);

// Whether the protocols claim the property. Without buses there is no property of a bus.
bool claims(const NetworkProtocols& protocols, Property property);

}  // namespace linebounce
