#include "models/coherence/checker/network/prove_network.hpp"

#include <algorithm>

namespace linebounce {

bool NetworkProof::all_rows_can_run(const NetworkProtocols& protocols) const {
  const auto any = [this](auto is) { return std::any_of(systems.begin(), systems.end(), is); };
  const auto several = [](const NetworkCheckOptions& system) { return system.caches >= 2; };
  if (protocols.group) return any([&](const NetworkCheckOptions& system) { return several(system) && system.agents >= 2; });
  return any([](const NetworkCheckOptions& system) { return system.agents >= kCachesForAllRows; }) &&
         (!protocols.node || any(several));
}

std::vector<NetworkCheckOptions> default_systems(const NetworkProtocols& protocols) {
  if (protocols.group) {
    constexpr std::size_t kLimitMib = 4096;
    return {{.agents = 2, .caches = 2, .memory_limit_mib = kLimitMib},
            {.agents = 3, .caches = 1, .memory_limit_mib = kLimitMib},
            // A member requests the line while two other members read it and another group writes it.
            {.agents = 2, .caches = 3, .last_caches = 1, .memory_limit_mib = kLimitMib, .if_rows_are_missing = true}};
  }
  if (!protocols.node) return {{.agents = 3}};
  return {{.agents = 2, .caches = 2}, {.agents = 3, .caches = 1}};
}

NetworkProof prove_network(const NetworkProtocols& protocols, const std::vector<NetworkCheckOptions>& systems) {
  NetworkProof proof;
  for (const NetworkCheckOptions& system : systems) {
    if (system.if_rows_are_missing && proof.unreached.empty()) continue;
    NetworkCheckResult result = check_network(protocols, system);
    const auto ran = [&](const UnreachedRow& row) {
      return std::none_of(result.unreached.begin(), result.unreached.end(), [&](const UnreachedRow& other) {
        return row.controller == other.controller && row.state == other.state && row.source_line == other.source_line;
      });
    };
    if (proof.systems.empty()) proof.unreached = result.unreached;
    std::erase_if(proof.unreached, ran);
    proof.systems.push_back(system);
    proof.results.push_back(std::move(result));
    if (proof.violation()) break;
  }
  return proof;
}

bool claims(const NetworkProtocols& protocols, Property property) {
  const bool of_bus = property == Property::one_supplier || property == Property::data_arrives;
  return of_bus ? protocols.node.has_value() : claims(subject_of(protocols), property);
}

}  // namespace linebounce
