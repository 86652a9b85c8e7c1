// The controllers checked together, and the liveness of their values.
#pragma once

#include <cstdint>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"
#include "models/coherence/network_order.hpp"

namespace linebounce::checker {

// The parts of a message that its receiver's rows read. Other parts are dead.
struct MessageUse {
  bool requestor = false, source = false, acks = false, data = false;
};

// By state of a controller: whether a value is live, which means that a row may read it before it is set again. Dead values are
// no part of a state. Derived from the rows, so tables need not declare it.
using Live = std::vector<bool>;

class CheckedSystem {
 public:
  CheckedSystem(const NetworkProtocols& protocols, const NetworkCheckOptions& options);
  CheckedSystem(const CheckedSystem&) = delete;
  CheckedSystem& operator=(const CheckedSystem&) = delete;

  const int agents, caches;  // caches in a node; 0 if agents are caches themselves
  const Protocol& network;   // the directory's protocol, with the network's messages
  const Protocol& subject;   // the protocol with the agents' table
  const AgentTable agent_table;
  Protocol bus;  // the bus's, with the node's table in memory's place; empty without nodes
  const bool has_nodes;

  [[nodiscard]] const ControllerTable& agent() const { return *agent_table.table; }
  [[nodiscard]] const ControllerTable& cache() const { return has_nodes ? bus.cache : network.cache; }
  [[nodiscard]] const ControllerTable& directory() const { return network.directory; }
  [[nodiscard]] bool is_forward(MessageId message) const {
    return network.messages[message].message_class == MessageClass::forward;
  }

  std::vector<MessageUse> to_agent, to_home;  // by network message
  Live agent_data, agent_requestor, cache_data, owner, sharers, memory;
};

}  // namespace linebounce::checker
