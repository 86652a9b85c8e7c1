// A state of the system on a network, and its encoding in 48 bytes.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "models/coherence/checker/network/system.hpp"
#include "models/coherence/checker/world.hpp"

namespace linebounce::checker {

// The transaction of a node controller that waits for its bus.
constexpr std::uint8_t kNoTransaction = 0;
constexpr std::uint8_t kRunTransaction = 1;     // of the deferred cache
constexpr std::uint8_t kRecallTransaction = 2;  // from here on: a recall with message number `transaction` - 2

// An agent: a cache with a directory, or a node.
struct AgentWorld {
  AgentEntry entry;
  std::uint8_t data = 0;              // one bit
  Waiting access = Waiting::nothing;  // for a cache with a directory
  std::uint8_t transaction = kNoTransaction;
  std::uint8_t bus_data = 0;  // 0 if no data step is due
  std::array<CacheWorld, kMaxCheckedNodeCaches> caches{};

  [[nodiscard]] bool data_step_due() const {
    return std::any_of(caches.begin(), caches.end(), [](const CacheWorld& cache) { return cache.data_due; });
  }
  friend bool operator==(const AgentWorld&, const AgentWorld&) = default;
};

constexpr std::size_t kKeyWords = 24;
constexpr std::size_t kMaxNetworkMessages = 31;  // kinds of messages, encoded in five bits with 0 for none
constexpr std::size_t kMaxBusMessages = 14;      // a transaction is encoded in four bits

struct NetworkWorld {
  std::array<AgentWorld, kMaxCheckedAgents> agents{};
  DirectoryEntry directory;
  std::uint8_t memory_data = 0;
  std::uint8_t latest = 0;  // ghost: the value of the last store
  // Messages under way, encoded. Forwards to one agent are in the order of sending.
  std::array<std::uint16_t, kKeyWords> messages{};
  std::size_t message_count = 0;

  [[nodiscard]] AgentWorld& agent(int number) { return agents[static_cast<std::size_t>(number)]; }
  [[nodiscard]] const AgentWorld& agent(int number) const { return agents[static_cast<std::size_t>(number)]; }
};

struct NetworkKey {
  std::array<std::uint64_t, kKeyWords / 4> words{};
  // Not auto, because older standard libraries' arrays lack <=>.
  friend std::strong_ordering operator<=>(const NetworkKey&, const NetworkKey&) = default;
};
static_assert(sizeof(NetworkKey) == 48);

std::uint16_t pack(const MessageUnderWay& message);
MessageUnderWay unpack_message(std::uint16_t word);

// Clears variables that no row will read. REQUIRES: called after every step.
void clear_dead_variables(const CheckedSystem& system, NetworkWorld& world);

// REQUIRES: clear_dead_variables() was called. Errors: CheckTooLarge.
NetworkKey pack(const CheckedSystem& system, const NetworkWorld& world);
NetworkWorld unpack(const CheckedSystem& system, const NetworkKey& key);

// A canonical key under renaming of agents, of a node's caches, and of values. REQUIRES, errors: as pack().
NetworkKey canonical(const CheckedSystem& system, NetworkWorld world);

}  // namespace linebounce::checker
