#include "models/coherence/checker/network/system.hpp"

#include <algorithm>

namespace linebounce {

const Protocol& subject_of(const NetworkProtocols& protocols) {
  return protocols.node ? *protocols.node : protocols.directory;
}

namespace checker {
namespace {

// The first effect of a row on a variable.
enum class Effect : std::uint8_t { none, uses, sets };

// The base event that a qualified event belongs to.
std::size_t base_of(const ControllerTable& table, std::size_t event) {
  std::size_t base = 0;
  while (event >= table.base_events[base].first + std::size_t{table.base_events[base].count}) ++base;
  return base;
}

// Finds the states in which a variable is live. first_effect(action, base event) is what an action does with the variable.
// guarded(base event) is true if the event's guard reads the variable.
template <class FirstEffect, class Guarded>
Live live_states(const ControllerTable& table, FirstEffect first_effect, Guarded guarded) {
  const auto effect_of = [&](const Row& row, std::size_t base) {
    if (guarded(table.base_events[base])) return Effect::uses;
    for (const Action action : row.steps()) {
      if (const Effect effect = first_effect(action, base); effect != Effect::none) return effect;
    }
    return Effect::none;
  };
  Live live(table.states.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t place = 0; place < table.rows.size(); ++place) {
      const Row& row = table.rows[place];
      const std::size_t state = place / table.events.size();
      if (row.impossible || live[state]) continue;
      const Effect effect = effect_of(row, base_of(table, place % table.events.size()));
      if (effect == Effect::uses || (effect == Effect::none && live[row.next])) live[state] = changed = true;
    }
  }
  return live;
}

bool never(const BaseEvent& /*event*/) {
  return false;
}

bool sends_to_network(Verb verb) {
  return verb == Verb::send_home || verb == Verb::send_requestor || verb == Verb::send_owner || verb == Verb::send_sharers ||
         verb == Verb::send_others;
}

// Finds the states in which the data of a cache or node controller is live.
Live live_data(const Protocol& protocol, const ControllerTable& table) {
  const auto effect = [&](Action action, std::size_t /*base*/) {
    switch (action.verb) {
      case Verb::take_data: return Effect::sets;
      case Verb::hit:
      case Verb::operate:
      case Verb::send_data: return Effect::uses;
      default: break;
    }
    const bool sends = sends_to_network(action.verb) && protocol.messages[action.argument].carries_data;
    return sends ? Effect::uses : Effect::none;
  };
  return live_states(table, effect, never);
}

bool speaks_of_requestor(const Protocol& protocol, Action action) {
  return action.verb == Verb::send_requestor ||
         (action.verb == Verb::send_home && protocol.messages[action.argument].message_class == MessageClass::relay);
}

Live live_requestor(const ControllerRules& agents) {
  const auto effect = [&](Action action, std::size_t base) {
    if (action.verb == Verb::save_requestor) return Effect::sets;
    const bool of_entry = base < agents.first_outside && speaks_of_requestor(*agents.protocol, action);
    return of_entry ? Effect::uses : Effect::none;
  };
  return live_states(*agents.table, effect, never);
}

Live live_owner(const ControllerTable& directory) {
  const auto effect = [](Action action, std::size_t /*base*/) {
    if (action.verb == Verb::set_owner || action.verb == Verb::clear_owner) return Effect::sets;
    return action.verb == Verb::send_owner || action.verb == Verb::add_owner ? Effect::uses : Effect::none;
  };
  return live_states(directory, effect,
                     [](const BaseEvent& event) { return event.guard == GuardGroup::from_owner_from_other; });
}

Live live_sharers(const ControllerTable& directory) {
  const auto effect = [](Action action, std::size_t /*base*/) {
    if (action.verb == Verb::clear_sharers) return Effect::sets;
    return action.verb == Verb::send_sharers ? Effect::uses : Effect::none;
  };
  return live_states(directory, effect, [](const BaseEvent& event) {
    return event.guard == GuardGroup::last_sharer_more_sharers || event.guard == GuardGroup::sharers_no_sharers;
  });
}

Live live_memory(const Protocol& network) {
  const auto effect = [&](Action action, std::size_t /*base*/) {
    if (action.verb == Verb::update_memory) return Effect::sets;
    const bool sends = sends_to_network(action.verb) && network.messages[action.argument].carries_data;
    return sends ? Effect::uses : Effect::none;
  };
  return live_states(network.directory, effect, never);
}

// Calls look(row) for each row of a base event, except for impossible rows.
template <class Look>
void for_rows(const ControllerTable& table, const BaseEvent& event, Look look) {
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    for (int i = 0; i < event.count; ++i) {
      const Row& row = table.row(static_cast<StateId>(state), static_cast<EventId>(event.first + i));
      if (!row.impossible) look(row);
    }
  }
}

MessageUse use_at_agent(const ControllerRules& agents, MessageId message) {
  const BaseEvent& event = agents.table->base_events[agents.event_of(Side::outside, message)];
  MessageUse use;
  use.acks = event.guard == GuardGroup::no_acks_acks;
  for_rows(*agents.table, event, [&](const Row& row) {
    for (const Action action : row.steps()) {
      use.requestor |= action.verb == Verb::save_requestor || speaks_of_requestor(*agents.protocol, action);
      use.acks |= action.verb == Verb::add_acks;
      use.data |= action.verb == Verb::take_data;
    }
  });
  return use;
}

MessageUse use_at_home(const Protocol& network, MessageId message) {
  const BaseEvent& event = network.directory.base_events[message];
  const bool relayed = network.messages[message].message_class == MessageClass::relay;
  MessageUse use;
  use.source = event.guard == GuardGroup::from_owner_from_other || event.guard == GuardGroup::last_sharer_more_sharers;
  for_rows(network.directory, event, [&](const Row& row) {
    for (const Action action : row.steps()) {
      const bool of_member =
          sends_to_network(action.verb) || action.verb == Verb::set_owner || action.verb == Verb::add_requestor;
      use.source |= action.verb == Verb::remove_sender || (of_member && !relayed);
      use.requestor |= of_member && relayed;
      use.data |= action.verb == Verb::update_memory;
    }
  });
  return use;
}

Protocol composed_bus(const NetworkProtocols& protocols) {
  if (!protocols.node) return {};
  Protocol bus = *protocols.bus;
  bus.memory = protocols.node->node;
  return bus;
}

}  // namespace

CheckedSystem::CheckedSystem(const NetworkProtocols& protocols, const NetworkCheckOptions& options)
    : agents(options.agents),
      caches(protocols.node ? options.caches : 0),
      network(protocols.directory),
      subject(subject_of(protocols)),
      agent_rules(ControllerRules::of_agents(subject)),
      home_rules(protocols.directory, Controller::directory),
      bus(composed_bus(protocols)),
      has_nodes(protocols.node.has_value()),
      agent_data(live_data(subject, agent())),
      agent_requestor(live_requestor(agent_rules)),
      cache_data(has_nodes ? live_data(bus, bus.cache) : Live{}),
      owner(live_owner(directory())),
      sharers(live_sharers(directory())),
      memory(live_memory(network)) {
  for (std::size_t m = 0; m < network.messages.size(); ++m) {
    to_agent.push_back(use_at_agent(agent_rules, static_cast<MessageId>(m)));
    to_home.push_back(use_at_home(network, static_cast<MessageId>(m)));
  }
}

}  // namespace checker
}  // namespace linebounce
