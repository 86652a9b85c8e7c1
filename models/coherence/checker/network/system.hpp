// The controllers that are checked together, in which states their variables are live, and which parts of messages they read.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"
#include "models/coherence/controller_step.hpp"
#include "models/coherence/row_reads.hpp"

namespace linebounce::checker {

// Identifies one controller of the system.
struct Place {
  Controller controller{};
  int agent = 0;
  int cache = 0;  // the cache's number in its node or group; 0 for other controllers
  friend bool operator==(const Place&, const Place&) = default;
};

// The ways of a message. The home's network is between the home and the agents, a group's between the group and its members.
enum class Way : std::uint8_t { to_home, to_agent, to_group, to_member };
constexpr std::size_t kWays = 4;
constexpr Way way_of(const MessageUnderWay& message) {
  if (message.network == 0) return message.to == kMemory ? Way::to_home : Way::to_agent;
  return message.to == kMemory ? Way::to_group : Way::to_member;
}

class CheckedSystem {
 public:
  CheckedSystem(const NetworkProtocols& protocols, const NetworkCheckOptions& options);
  CheckedSystem(const CheckedSystem&) = delete;
  CheckedSystem& operator=(const CheckedSystem&) = delete;

  const NetworkCheckOptions options;
  const int agents;  // how many caches, nodes or groups are on the home's network
  const bool has_nodes, has_groups;
  const Protocol& network;  // the directory's protocol, which defines the network's messages
  const Protocol& subject;  // the protocol that defines the agents' table
  Protocol bus;             // the bus's protocol, but with the node's table as memory's; empty without nodes
  const ControllerRules home_rules, agent_rules;
  const ControllerRules member_rules;  // rules of the caches in groups

  // How many caches the node or group has; 0 if the agents are caches.
  [[nodiscard]] int caches(int agent) const {
    if (!has_nodes && !has_groups) return 0;
    return agent == agents - 1 && options.last_caches > 0 ? options.last_caches : options.caches;
  }
  // How many agents are interchangeable. These are the first ones, and have equally many caches.
  [[nodiscard]] int alike() const { return options.last_caches > 0 ? agents - 1 : agents; }
  [[nodiscard]] const ControllerTable& agent() const { return *agent_rules.table; }
  [[nodiscard]] const ControllerTable& cache() const { return has_nodes ? bus.cache : network.cache; }
  [[nodiscard]] const ControllerTable& directory() const { return network.directory; }
  [[nodiscard]] bool is_forward(MessageId message) const {
    return network.messages[message].message_class == MessageClass::forward;
  }

  [[nodiscard]] Place agent_place(int agent) const { return {.controller = agent_rules.controller, .agent = agent}; }
  [[nodiscard]] Place cache_place(int agent, int cache) const { return {Controller::cache, agent, cache}; }
  // True if the controller is a cache in a node or group.
  [[nodiscard]] bool is_inside(const Place& place) const {
    return place.controller == Controller::cache && (has_nodes || has_groups);
  }
  [[nodiscard]] const ControllerRules& rules(const Place& place) const {
    if (place.controller == Controller::directory) return home_rules;
    return is_inside(place) ? member_rules : agent_rules;
  }
  [[nodiscard]] Place receiver(const MessageUnderWay& message) const {
    if (message.network == 0) return message.to == kMemory ? Place{Controller::directory} : agent_place(message.to);
    return message.to == kMemory ? agent_place(message.network - 1) : cache_place(message.network - 1, message.to);
  }
  // The controller's number among its parent's agents.
  [[nodiscard]] int number(const Place& place) const { return is_inside(place) ? place.cache : place.agent; }
  // "cache 0.1" or "the directory", for people.
  [[nodiscard]] std::string name(const Place& place) const;

  [[nodiscard]] const MessageUse& use(Way way, std::size_t message) const {
    return uses_[static_cast<std::size_t>(way)][message];
  }
  LiveByState home_live, agent_live, cache_live;  // `cache_live`: of the caches in nodes and groups

 private:
  std::array<std::vector<MessageUse>, kWays> uses_;  // by way and message
};

}  // namespace linebounce::checker
