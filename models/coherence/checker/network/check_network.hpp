// The model checker for a network: caches with a directory, or nodes with a directory, each node a bus of caches with a
// controller. It runs the same functions of network_order.hpp and bus_order.hpp as the simulator.
//
// One line is enough: no row depends on another line, and a stalled message blocks only messages about its own line. Two values
// are enough to tell a stale copy from a fresh one. There is no time: any step that can happen next may happen next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/coherence/checker/check_protocol.hpp"
#include "models/coherence/network_order.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

constexpr int kMaxCheckedAgents = 6;
constexpr int kMaxCheckedNodeCaches = 4;

// The protocols checked together. Without a node, the caches of `directory` are on the network themselves.
struct NetworkProtocols {
  Protocol directory;
  std::optional<Protocol> node, bus;
};

struct NetworkCheckOptions {
  int agents = 3;        // caches with a directory, or nodes
  int caches = 1;        // in each node
  bool symmetry = true;  // states that differ only by renaming nodes, caches or values count once
  std::size_t memory_limit_mib = 2048;
};

enum class NetworkStepKind : std::uint8_t {
  load,
  store,
  atomic,
  evict,    // from a cache
  order,    // a cache's request asks to be ordered on its node's bus
  data,     // the data step of a cache's request
  run,      // the order step of the deferred request
  recall,   // the order step of the node controller's own transaction
  give_up,  // the node controller evicts the line
  arrive,   // a network message arrives
  forget,   // the home evicts the line's directory entry
};
constexpr std::size_t kNetworkStepKinds = 11;

// A message under way, with its data.
struct MessageUnderWay {
  NetworkMessage message;
  int to = kNobody;  // an agent, or kMemory for the home
  std::uint8_t data = 0;
  friend bool operator==(const MessageUnderWay&, const MessageUnderWay&) = default;
};

struct NetworkStep {
  NetworkStepKind kind{};
  int agent = 0;
  int cache = 0;              // in a node, for load, store, atomic, evict, order and data
  std::uint8_t value = 0;     // the value that a store or atomic in this step writes
  MessageUnderWay arrives{};  // for arrive
};

using NetworkViolation = CheckViolation<NetworkStep>;

struct NetworkCheckResult : SearchResult<NetworkStep> {
  int most_forwards = 0;  // the most forwards under way to one agent
  int most_messages = 0;  // the most messages under way
};

// REQUIRES: 1 <= agents <= kMaxCheckedAgents; 1 <= caches <= kMaxCheckedNodeCaches. Errors: CheckTooLarge.
NetworkCheckResult check_network(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

// The protocol to prove: the node's, or the directory's.
const Protocol& subject_of(const NetworkProtocols& protocols);

}  // namespace linebounce
