// The controllers that are checked together, and in which states their variables are live.
#pragma once

#include <cstdint>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"
#include "models/coherence/controller_step.hpp"

namespace linebounce::checker {

// Which parts of a message its receiver's rows read. The checker clears the other parts.
struct MessageUse {
  bool requestor = false, source = false, acks = false, data = false;
};

// For each state of a controller, whether a variable is live, that is, whether a row may read the variable before it is set
// again. Dead variables are cleared, so that they don't distinguish states. Liveness is derived from the rows, so tables need
// not declare it.
using Live = std::vector<bool>;

class CheckedSystem {
 public:
  CheckedSystem(const NetworkProtocols& protocols, const NetworkCheckOptions& options);
  CheckedSystem(const CheckedSystem&) = delete;
  CheckedSystem& operator=(const CheckedSystem&) = delete;

  const int agents, caches;  // the numbers of agents, and of caches in each node (0 if the agents are caches)
  const Protocol& network;   // the directory's protocol, which defines the network's messages
  const Protocol& subject;   // the protocol that defines the agents' table
  const ControllerRules agent_rules, home_rules;
  Protocol bus;  // the bus's protocol, but with the node's table as memory's; empty without nodes
  const bool has_nodes;

  [[nodiscard]] const ControllerTable& agent() const { return *agent_rules.table; }
  [[nodiscard]] const ControllerTable& cache() const { return has_nodes ? bus.cache : network.cache; }
  [[nodiscard]] const ControllerTable& directory() const { return network.directory; }
  [[nodiscard]] bool is_forward(MessageId message) const {
    return network.messages[message].message_class == MessageClass::forward;
  }

  std::vector<MessageUse> to_agent, to_home;  // by message: the parts that an agent, or the home, reads
  Live agent_data, agent_requestor, cache_data, owner, sharers, memory;
};

}  // namespace linebounce::checker
