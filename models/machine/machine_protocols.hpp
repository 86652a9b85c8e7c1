// The protocols that a machine's controllers run.
#pragma once

#include <utility>

#include "models/coherence/protocol.hpp"

namespace linebounce {

// In a machine without nodes, only `bus` is set.
struct MachineProtocols {
  Protocol bus, node, directory;
  Protocol group = {};  // the protocol of all levels of groups; empty without groups
  // NOLINTNEXTLINE(google-explicit-constructor): so that one Protocol suffices for a machine of one bus
  MachineProtocols(Protocol bus_protocol, Protocol node_protocol = {}, Protocol directory_protocol = {})
      : bus(std::move(bus_protocol)), node(std::move(node_protocol)), directory(std::move(directory_protocol)) {}
};

}  // namespace linebounce
