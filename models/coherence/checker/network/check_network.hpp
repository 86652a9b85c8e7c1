// The model checker for protocols on a network: caches with a directory, or nodes of caches, each with a bus and a controller,
// and a directory. It runs the very functions of network_order.hpp and bus_order.hpp that the simulator runs, so what is proved
// is what runs.
//
// One line is enough: no row looks at another line, and what waits blocks only what is behind it about the same line. Two
// values are enough to tell a stale copy from a fresh one. Time is left out: whatever can happen next may happen next.
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

// What is checked together. Without a node: the caches of `directory` are on the network themselves.
struct NetworkProtocols {
  Protocol directory;
  std::optional<Protocol> node, bus;
};

struct NetworkCheckOptions {
  int agents = 3;        // caches with a directory, or nodes
  int caches = 1;        // of a node
  bool symmetry = true;  // states that differ only in which node, cache or value is which count once
  std::size_t memory_limit_mib = 2048;
};

enum class NetworkStepKind : std::uint8_t {
  load,
  store,
  atomic,
  evict,    // from a cache
  order,    // a cache's request wants to be ordered on its node's bus
  data,     // its data step
  run,      // the deferred request is ordered
  recall,   // the node controller's own transaction is ordered
  give_up,  // the node controller evicts the line
  arrive,   // a message of the network
  forget,   // the home evicts the line's entry
};
constexpr std::size_t kNetworkStepKinds = 11;

// A message under way, with the data that it carries.
struct MessageUnderWay {
  NetworkMessage message;
  int to = kNobody;  // an agent, or kMemory for the home
  std::uint8_t data = 0;
  friend bool operator==(const MessageUnderWay&, const MessageUnderWay&) = default;
};

struct NetworkStep {
  NetworkStepKind kind{};
  int agent = 0;
  int cache = 0;              // of a node: of a load, store, atomic, evict, order, data
  std::uint8_t value = 0;     // what a store or atomic operation that runs in this step writes
  MessageUnderWay arrives{};  // of an arrive
};

using NetworkViolation = CheckViolation<NetworkStep>;

struct NetworkCheckResult : SearchResult<NetworkStep> {
  int most_forwards = 0;  // that ever waited for one agent
  int most_messages = 0;  // that were ever under way
};

// REQUIRES: 1 <= agents <= kMaxCheckedAgents; 1 <= caches <= kMaxCheckedNodeCaches. Errors: CheckTooLarge.
NetworkCheckResult check_network(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

// The protocol that is proved: the node's, or the directory's.
const Protocol& subject_of(const NetworkProtocols& protocols);

}  // namespace linebounce
