// The model checker for a network of agents with a directory. An agent is either a cache, or a node that consists of caches on
// a bus and a node controller. The checker runs the same functions of controller_step.hpp and bus_order.hpp as the simulator.
//
// One line is enough, because no row depends on another line and a stalled message blocks only messages about its own line. Two
// values are enough to tell a stale copy from a fresh one. Time is not modeled: in every state, any of the possible steps may
// be the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/coherence/checker/check_protocol.hpp"
#include "models/coherence/controller_step.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

constexpr int kMaxCheckedAgents = 6;
constexpr int kMaxCheckedNodeCaches = 4;

// The protocols that are checked together. Without `node` and `bus`, the agents are the caches of `directory`.
struct NetworkProtocols {
  Protocol directory;
  std::optional<Protocol> node, bus;
};

struct NetworkCheckOptions {
  int agents = 3;        // the number of agents: caches or nodes
  int caches = 1;        // the number of caches in each node
  bool symmetry = true;  // true: states that differ only in the names of nodes, caches or values count as one
  std::size_t memory_limit_mib = 2048;
};

enum class NetworkStepKind : std::uint8_t {
  load,
  store,
  atomic,
  evict,    // a cache evicts the line
  order,    // a cache's request asks to be ordered on its node's bus
  data,     // the data step of a cache's request
  run,      // the order step of the request that the node controller deferred
  recall,   // the order step of a recall, the node controller's own transaction
  give_up,  // the node controller evicts the line
  arrive,   // a network message arrives
  forget,   // the home evicts the line's directory entry
};
constexpr std::size_t kNetworkStepKinds = 11;

// A message that is under way on the network, with its data.
struct MessageUnderWay {
  NetworkMessage message;
  int to = kNobody;  // the receiver: an agent, or kMemory for the home
  std::uint8_t data = 0;
  friend bool operator==(const MessageUnderWay&, const MessageUnderWay&) = default;
};

struct NetworkStep {
  NetworkStepKind kind{};
  int agent = 0;
  int cache = 0;              // the cache's number in its node, in steps of kind load, store, atomic, evict, order or data
  std::uint8_t value = 0;     // the value that a store or atomic in this step writes
  MessageUnderWay arrives{};  // the arriving message, in steps of kind arrive
};

using NetworkViolation = CheckViolation<NetworkStep>;

struct NetworkCheckResult : SearchResult<NetworkStep> {
  int most_forwards = 0;  // the most forwards that were under way to one agent at once
  int most_messages = 0;  // the most messages that were under way at once
};

// REQUIRES: options.agents is 1 to kMaxCheckedAgents, and options.caches is 1 to kMaxCheckedNodeCaches. Errors: CheckTooLarge.
NetworkCheckResult check_network(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

// The protocol that is to be proved: the node's if there are nodes, otherwise the directory's.
const Protocol& subject_of(const NetworkProtocols& protocols);

}  // namespace linebounce
