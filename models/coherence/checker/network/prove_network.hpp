// Proves a network protocol by checking several small systems. Some bugs appear only with three nodes or groups, others only
// with two caches in one, and a system with both would have too many states.
#pragma once

#include <optional>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

struct NetworkProof {
  std::vector<NetworkCheckOptions> systems;  // the systems that were checked; a violation ends the proof
  std::vector<NetworkCheckResult> results;   // the result of each system
  std::vector<UnreachedRow> unreached;       // the rows that ran in no system; empty after a violation

  // The violation in the last system that was checked, if any.
  [[nodiscard]] const std::optional<NetworkViolation>& violation() const { return results.back().violation; }
  // Whether the systems are large enough for every row of a correct protocol to run. Some rows need three agents that race,
  // others two caches in a node.
  [[nodiscard]] bool all_rows_can_run(const NetworkProtocols& protocols) const;
  [[nodiscard]] bool proved(const NetworkProtocols& protocols) const {
    return !violation() && (unreached.empty() || !all_rows_can_run(protocols));
  }
};

// The systems to check by default.
std::vector<NetworkCheckOptions> default_systems(const NetworkProtocols& protocols);

// REQUIRES: at least one system, plus the requirements of check_network(). Errors: as for check_network().
NetworkProof prove_network(const NetworkProtocols& protocols, const std::vector<NetworkCheckOptions>& systems);

// Whether the protocols must have the property. Properties of a bus apply only to systems with nodes.
bool claims(const NetworkProtocols& protocols, Property property);

}  // namespace linebounce
