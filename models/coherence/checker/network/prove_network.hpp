// A protocol on a network is proved in one or several small systems: some bugs need three nodes, others two caches in one node,
// and both together have too many states.
#pragma once

#include <optional>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

struct NetworkProof {
  std::vector<NetworkCheckOptions> systems;  // as far as they were checked: a violation ends it
  std::vector<NetworkCheckResult> results;   // of each
  std::vector<UnreachedRow> unreached;       // in none of them; empty after a violation

  // Of the last one.
  [[nodiscard]] const std::optional<NetworkViolation>& violation() const { return results.back().violation; }
  // Whether the systems are large enough for every row of a correct protocol: three that race, and two caches in a node.
  [[nodiscard]] bool all_rows_can_run(const NetworkProtocols& protocols) const;
  [[nodiscard]] bool proved(const NetworkProtocols& protocols) const {
    return !violation() && (unreached.empty() || !all_rows_can_run(protocols));
  }
};

// What is checked unless a user says otherwise.
std::vector<NetworkCheckOptions> default_systems(const NetworkProtocols& protocols);

// REQUIRES, errors: as check_network() of each. There is at least one.
NetworkProof prove_network(const NetworkProtocols& protocols, const std::vector<NetworkCheckOptions>& systems);

// Whether there is something to prove for it: a network without buses has no property about a bus.
bool properties(const NetworkProtocols& protocols, Property property);

}  // namespace linebounce
