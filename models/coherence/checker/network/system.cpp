#include "models/coherence/checker/network/system.hpp"

#include <fmt/format.h>

namespace linebounce {

const Protocol& subject_of(const NetworkProtocols& protocols) {
  return protocols.group ? *protocols.group : protocols.node ? *protocols.node : protocols.directory;
}

namespace checker {
namespace {

Protocol composed_bus(const NetworkProtocols& protocols) {
  if (!protocols.node) return {};
  Protocol bus = *protocols.bus;
  bus.memory = protocols.node->node;
  return bus;
}

}  // namespace

CheckedSystem::CheckedSystem(const NetworkProtocols& protocols, const NetworkCheckOptions& chosen)
    : options(chosen),
      agents(chosen.agents),
      has_nodes(protocols.node.has_value()),
      has_groups(protocols.group.has_value()),
      network(protocols.directory),
      subject(subject_of(protocols)),
      bus(composed_bus(protocols)),
      home_rules(network, Controller::directory),
      agent_rules(ControllerRules::of_agents(subject)),
      member_rules(network, Controller::cache),
      home_live(live_variables(home_rules)),
      agent_live(live_variables(agent_rules)),
      cache_live(live_variables(has_nodes ? ControllerRules(bus, Controller::cache) : member_rules)) {
  const auto add = [this](Way way, const ControllerRules& receiver, Side side) {
    for (std::size_t m = 0; m < network.messages.size(); ++m) {
      uses_[ordinal(way)].push_back(use_of(receiver, side, static_cast<MessageId>(m)));
    }
  };
  add(Way::to_home, home_rules, Side::member);
  add(Way::to_agent, agent_rules, Side::outside);
  if (!has_groups) return;
  add(Way::to_group, agent_rules, Side::member);
  add(Way::to_member, member_rules, Side::outside);
}

std::string CheckedSystem::name(const Place& place) const {
  switch (place.controller) {
    case Controller::directory: return "the directory";
    case Controller::node: return fmt::format("node {}", place.agent);
    case Controller::group: return fmt::format("group {}", place.agent);
    default: break;
  }
  return is_inside(place) ? fmt::format("cache {}.{}", place.agent, place.cache) : fmt::format("cache {}", place.agent);
}

}  // namespace checker
}  // namespace linebounce
