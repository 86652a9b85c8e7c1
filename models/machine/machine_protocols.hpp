// The protocols of a machine.
#pragma once

#include <utility>

#include "models/coherence/protocol.hpp"

namespace linebounce {

// What a machine's controllers run. One without nodes has a bus's only.
struct MachineProtocols {
  Protocol bus, node, directory;
  Protocol group = {};  // of all levels of groups; none: the machine has no groups
  // NOLINTNEXTLINE(google-explicit-constructor): a machine of one bus has one protocol
  MachineProtocols(Protocol bus_protocol, Protocol node_protocol = {}, Protocol directory_protocol = {})
      : bus(std::move(bus_protocol)), node(std::move(node_protocol)), directory(std::move(directory_protocol)) {}
};

}  // namespace linebounce
