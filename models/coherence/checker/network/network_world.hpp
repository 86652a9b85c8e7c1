// A state of the home, its agents and the messages under way, and the state's encoding in 48 bytes.
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

// An agent: a cache, a node or a group.
struct AgentWorld : ControllerWorld {
  std::uint8_t transaction = kNoTransaction;
  std::uint8_t bus_data = 0;  // the value on the node's data bus; 0 if no data step is due
  std::array<ControllerWorld, kMaxCheckedNodeCaches> caches{};

  [[nodiscard]] bool data_step_due() const {
    return std::any_of(caches.begin(), caches.end(), [](const ControllerWorld& cache) { return cache.data_due; });
  }
};

constexpr std::size_t kKeyWords = 6;
constexpr std::size_t kMostUnderWay = 24;
constexpr std::size_t kMaxNetworkMessages = 31;  // limited by five bits, which encode a message's id plus 1
constexpr std::size_t kMaxBusMessages = 14;      // limited by the four bits of an encoded AgentWorld::transaction

struct NetworkWorld {
  ControllerWorld home;
  std::array<AgentWorld, kMaxCheckedAgents> agents{};
  std::uint8_t latest = 0;  // used only by the property checks: the value written last
  // The messages under way. Forwards to the same receiver are in the order in which they were sent.
  std::array<MessageUnderWay, kMostUnderWay> messages{};
  std::size_t message_count = 0;

  [[nodiscard]] AgentWorld& agent(int number) { return agents[number]; }
  [[nodiscard]] const AgentWorld& agent(int number) const { return agents[number]; }
  [[nodiscard]] const ControllerWorld& at(const CheckedSystem& system, const Place& place) const {
    if (place.controller == Controller::directory) return home;
    return system.is_inside(place) ? agent(place.agent).caches[place.cache] : agent(place.agent);
  }
  [[nodiscard]] ControllerWorld& at(const CheckedSystem& system, const Place& place) {
    return const_cast<ControllerWorld&>(std::as_const(*this).at(system, place));
  }
};

struct NetworkKey {
  std::array<std::uint64_t, kKeyWords> words{};
  // The return type is not `auto`, because std::array lacks <=> in older standard libraries.
  friend std::strong_ordering operator<=>(const NetworkKey&, const NetworkKey&) = default;
};

// A renaming of agents and of the caches in groups.
struct Renaming {
  // `old_agent` is indexed by new number, `new_agent` by old number.
  std::array<std::int8_t, kMaxCheckedAgents> old_agent{}, new_agent{};
  std::array<std::array<std::int8_t, kMaxCheckedNodeCaches>, kMaxCheckedAgents> old_cache{}, new_cache{};  // [old agent]
};

// Clears variables that no row will read before they are set again. Must be called after every step.
void clear_dead_variables(const CheckedSystem& system, NetworkWorld& world);

class KeyWriter;
class WordWriter;

// Encodes and decodes the states of one system.
class WorldCodec {
 public:
  explicit WorldCodec(const CheckedSystem& system);

  // REQUIRES: clear_dead_variables() was called after the last step. Errors: CheckTooLarge.
  [[nodiscard]] NetworkKey pack(const NetworkWorld& world) const { return pack(world, renamings_.front()); }
  [[nodiscard]] NetworkWorld unpack(const NetworkKey& key) const;
  // Returns the same key for all states that differ only in the names of agents, of a node's or group's caches, or of values.
  // REQUIRES and Errors: as for pack().
  [[nodiscard]] NetworkKey canonical(NetworkWorld world) const;

 private:
  template <class Coder, class Agent>
  void code_agent(Coder& coder, ControllerEntry& entry, Agent& agent) const;
  template <class Coder, class Cache>
  void code_cache(Coder& coder, Cache& cache) const;
  template <class Coder, class World>
  void code_home(Coder& coder, ControllerEntry& entry, World& world) const;
  [[nodiscard]] WordWriter agent_word(ControllerEntry& entry, const AgentWorld& agent) const;
  [[nodiscard]] WordWriter cache_word(const ControllerWorld& cache) const;
  [[nodiscard]] std::uint32_t word_of(const MessageUnderWay& message) const;
  [[nodiscard]] MessageUnderWay message_of(std::uint32_t word) const;
  void code_messages(KeyWriter& out, const NetworkWorld& world, const Renaming& names) const;
  [[nodiscard]] NetworkKey pack(const NetworkWorld& world, const Renaming& names) const;
  [[nodiscard]] std::uint64_t signature(const NetworkWorld& world, int agent) const;
  void rename_values(NetworkWorld& world) const;
  void sort_caches(AgentWorld& agent) const;

  const CheckedSystem& system_;
  std::vector<Renaming> renamings_;  // all renamings; the first one changes nothing
  int home_state_bits_, agent_state_bits_, cache_state_bits_, message_bits_;
};

}  // namespace linebounce::checker
