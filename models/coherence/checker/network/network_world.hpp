// A state of a network with its agents and directory, and the state's encoding in 48 bytes.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "models/coherence/checker/network/system.hpp"
#include "models/coherence/checker/world.hpp"

namespace linebounce::checker {

// Values of AgentWorld::transaction, a node controller's transaction that waits for the node's bus.
constexpr std::uint8_t kNoTransaction = 0;
constexpr std::uint8_t kRunTransaction = 1;     // the deferred request of the cache ControllerEntry::member
constexpr std::uint8_t kRecallTransaction = 2;  // this value plus m: a recall with the bus's message m

// An agent: a cache or a node on the network.
struct AgentWorld {
  ControllerEntry entry;
  std::uint8_t data = 0;              // the copy's value, 0 or 1
  Waiting access = Waiting::nothing;  // the pending access, if the agent is a cache
  std::uint8_t transaction = kNoTransaction;
  std::uint8_t bus_data = 0;  // the value on the node's data bus; 0 if no data step is due
  std::array<CacheWorld, kMaxCheckedNodeCaches> caches{};

  [[nodiscard]] bool data_step_due() const {
    return std::any_of(caches.begin(), caches.end(), [](const CacheWorld& cache) { return cache.data_due; });
  }
  friend bool operator==(const AgentWorld&, const AgentWorld&) = default;
};

constexpr std::size_t kKeyWords = 24;
constexpr std::size_t kMaxNetworkMessages = 31;  // limited by five bits, which encode a message's id plus 1
constexpr std::size_t kMaxBusMessages = 14;      // limited by the four bits of an encoded AgentWorld::transaction

struct NetworkWorld {
  std::array<AgentWorld, kMaxCheckedAgents> agents{};
  ControllerEntry directory;
  std::uint8_t memory_data = 0;
  std::uint8_t latest = 0;  // used only by the property checks: the value written last
  // The messages under way, each encoded by pack(). Forwards to the same agent are in the order in which they were sent.
  std::array<std::uint16_t, kKeyWords> messages{};
  std::size_t message_count = 0;

  [[nodiscard]] AgentWorld& agent(int number) { return agents[number]; }
  [[nodiscard]] const AgentWorld& agent(int number) const { return agents[number]; }
};

struct NetworkKey {
  std::array<std::uint64_t, kKeyWords / 4> words{};
  // The return type is not `auto`, because std::array lacks <=> in older standard libraries.
  friend std::strong_ordering operator<=>(const NetworkKey&, const NetworkKey&) = default;
};
static_assert(sizeof(NetworkKey) == 48);

std::uint16_t pack(const MessageUnderWay& message);
MessageUnderWay unpack_message(std::uint16_t word);

// Clears variables that no row will read before they are set again. Must be called after every step.
void clear_dead_variables(const CheckedSystem& system, NetworkWorld& world);

// REQUIRES: clear_dead_variables() was called after the last step. Errors: CheckTooLarge.
NetworkKey pack(const CheckedSystem& system, const NetworkWorld& world);
NetworkWorld unpack(const CheckedSystem& system, const NetworkKey& key);

// Returns the same key for all states that differ only in the names of agents, of a node's caches, or of values. REQUIRES and
// Errors: as for pack().
NetworkKey canonical(const CheckedSystem& system, NetworkWorld world);

}  // namespace linebounce::checker
