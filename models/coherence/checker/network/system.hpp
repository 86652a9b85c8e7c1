// The controllers that are checked together, and what their tables say about which of their values matter.
#pragma once

#include <cstdint>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"
#include "models/coherence/network_order.hpp"

namespace linebounce::checker {

// Which parts of a message its receiver's rows look at: the others are no part of a state.
struct MessageUse {
  bool requestor = false, source = false, acks = false, data = false;
};

// By state of a controller: may a value be used before it is set again? Where not, it is no part of the state. Worked out
// backwards from the rows, so that a table needs no notes about it.
using Live = std::vector<bool>;

class CheckedSystem {
 public:
  CheckedSystem(const NetworkProtocols& protocols, const NetworkCheckOptions& options);
  CheckedSystem(const CheckedSystem&) = delete;
  CheckedSystem& operator=(const CheckedSystem&) = delete;

  const int agents, caches;  // caches of a node; 0 where agents are caches themselves
  const Protocol& network;   // messages of the network, and the directory
  const Protocol& subject;   // whose table the agents have
  const AgentTable agent_table;
  Protocol bus;  // with the node's table in memory's place; empty without nodes
  const bool has_nodes;

  [[nodiscard]] const ControllerTable& agent() const { return *agent_table.table; }
  [[nodiscard]] const ControllerTable& cache() const { return has_nodes ? bus.cache : network.cache; }
  [[nodiscard]] const ControllerTable& directory() const { return network.directory; }
  [[nodiscard]] bool is_forward(MessageId message) const {
    return network.messages[message].message_class == MessageClass::forward;
  }

  std::vector<MessageUse> to_agent, to_home;  // by message of the network
  Live agent_data, agent_requestor, cache_data, owner, sharers, memory;
};

}  // namespace linebounce::checker
