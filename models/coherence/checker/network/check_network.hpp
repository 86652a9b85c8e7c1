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
constexpr int kMaxCheckedGroups = 3;
constexpr int kMaxCheckedMembers = 3;

// The protocols of one checked system. Its agents are nodes if `node` and `bus` are given, groups if `group` is given, and
// caches otherwise. Caches that are agents or members of groups obey `directory`.
struct NetworkProtocols {
  Protocol directory;
  std::optional<Protocol> node = {}, bus = {}, group = {};
};

struct NetworkCheckOptions {
  int agents = 3;        // the number of agents: caches, nodes or groups
  int caches = 1;        // the number of caches in each node or group
  int last_caches = 0;   // the number of caches in the last agent; 0 for as many as in the others
  bool symmetry = true;  // true: states that differ only in the names of nodes, caches or values count as one
  std::size_t memory_limit_mib = 2048;
  bool if_rows_are_missing = false;  // true: prove_network() skips this system if the systems before it have run every row
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
  give_up,  // the node or group controller evicts the line from its cache
  arrive,   // a network message arrives
  forget,   // the home evicts the line's directory entry, or a group its filter entry
};
constexpr std::size_t kNetworkStepKinds = 11;

// A message that is under way, with its data. `network` is 0 for the home's network, and n + 1 for the inside of group n. `to`
// is the receiver's number on the network: an agent or a group's cache, or kMemory for the home or the group.
struct MessageUnderWay {
  NetworkMessage message;
  std::int8_t network = 0;
  std::int8_t to = kNobody;
  std::uint8_t data = 0;
  friend bool operator==(const MessageUnderWay&, const MessageUnderWay&) = default;
};

struct NetworkStep {
  NetworkStepKind kind{};
  int agent = kMemory;        // the agent's number; kMemory for the home, in steps of kind forget
  int cache = 0;              // the cache's number in its agent, in steps of kind load, store, atomic, evict, order or data
  std::uint8_t value = 0;     // the value that a store or atomic in this step writes
  MessageUnderWay arrives{};  // the arriving message, in steps of kind arrive
};

using NetworkViolation = CheckViolation<NetworkStep>;

struct NetworkCheckResult : SearchResult<NetworkStep> {
  int most_forwards = 0;  // the most forwards that were under way to one agent at once
  int most_messages = 0;  // the most messages that were under way at once
};

// REQUIRES: options.agents is 1 to kMaxCheckedAgents, or with groups to kMaxCheckedGroups; options.caches is 1 to
// kMaxCheckedNodeCaches, or with groups to kMaxCheckedMembers; last_caches <= caches. Errors: CheckTooLarge.
NetworkCheckResult check_network(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

// The protocol that is to be proved: the node's or group's if there are any, otherwise the directory's.
const Protocol& subject_of(const NetworkProtocols& protocols);

}  // namespace linebounce
