// The shipped protocols of networks, with the partners that they are checked with.
#pragma once

#include <string>

#include "models/coherence/checker/network/prove_network.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {

inline NetworkProtocols shipped_network(const std::string& name) {
  const Protocol subject = shipped_protocol(name);
  if (subject.kind == ProtocolKind::directory) return {subject, std::nullopt, std::nullopt};
  return {shipped_protocol(subject.directory_partner), subject, shipped_protocol(subject.bus_partner)};
}

}  // namespace linebounce::test
