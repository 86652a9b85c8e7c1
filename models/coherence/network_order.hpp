// Runs the rows of controllers on a network: caches, node controllers and directories. The code knows no time: the timed
// simulator and the model checker call the same functions on the same types of entries, so the checked code is the code that
// runs.
//
// A step processes one message, one event of a node's bus, or one access of a processor. The step sends messages through an
// Outbox, which decides when and in which order they arrive.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

#include "models/coherence/bus_order.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

// A message about one line, on its way through the network. Agents (caches or node controllers) are numbered from 0.
struct NetworkMessage {
  MessageId message = 0;      // index into the directory protocol's messages
  std::int8_t source = 0;     // the sending agent; kNobody if a directory sent the message
  std::int8_t requestor = 0;  // the agent whose request caused the message
  std::int8_t acks = 0;       // how many acknowledgements the receiver must expect
  friend bool operator==(const NetworkMessage&, const NetworkMessage&) = default;
};

// An agent's state of a line, without the data.
struct AgentEntry {
  StateId state = 0;
  std::int8_t acks = 0;              // acks still to come; negative if some arrived before the message that says how many
  std::int16_t requester = kNobody;  // node: the cache whose bus transaction is deferred
  std::int8_t requestor = kNobody;   // node: the agent for which the node recalls the line from its caches
  friend bool operator==(const AgentEntry&, const AgentEntry&) = default;
};

struct DirectoryEntry {
  StateId state = 0;
  std::int8_t owner = kNobody;
  std::uint64_t sharers = 0;  // bit n is set if agent n is a sharer
  friend bool operator==(const DirectoryEntry&, const DirectoryEntry&) = default;
};

// Carries out the effects that an agent's step has outside the AgentEntry.
template <class T>
concept AgentOutbox = requires(T out, const NetworkMessage& message, int agent, MessageId bus_message, StateId state,
                               EventId event) {
  out.send_home(message);
  out.send(agent, message);
  out.take_data();                  // takes the data from the incoming message or the bus
  out.run();                        // node: puts the saved requester's transaction on the bus again
  out.recall(bus_message);          // node: puts the node controller's own message on the bus
  out.complete();                   // cache: runs the pending access
  out.free();                       // cache: drops the copy
  out.on_transition(state, event);  // called before the row runs
};

template <class T>
concept DirectoryOutbox = requires(T out, const NetworkMessage& message, int agent, StateId state, EventId event) {
  { out.agents() } -> std::convertible_to<int>;  // the number of agents
  out.send(agent, message);
  out.update_memory();
  out.on_transition(state, event);
};

// Index of Evict among a directory's base events. The messages precede it.
inline std::size_t directory_evict_event(const Protocol& protocol) {
  return protocol.messages.size();
}
inline bool directory_evicts(const Protocol& protocol) {
  return !protocol.directory.base_events[directory_evict_event(protocol)].absent;
}

enum class StepResult : std::uint8_t { done, stalled, hit };

// The table that a protocol's agents run, and the mapping from message ids to the table's base events.
struct AgentTable {
  explicit AgentTable(const Protocol& whole)
      : protocol(&whole),
        controller(whole.kind == ProtocolKind::node ? Controller::node : Controller::cache),
        table(&whole.table(controller)),
        first_message(whole.kind == ProtocolKind::node ? node_evict_event(whole.bus_messages) + 1 : kFirstNetworkMessage) {}

  [[nodiscard]] std::size_t event_of(MessageId message) const { return first_message + message; }
  // Converts a row's message argument, which counts a node's bus messages first, to the directory protocol's message id.
  [[nodiscard]] MessageId network_id(std::uint8_t argument) const {
    return static_cast<MessageId>(argument - protocol->bus_messages);
  }

  const Protocol* protocol;
  Controller controller;
  const ControllerTable* table;
  std::size_t first_message;
};

// The qualified event that the entry and the message `in` select. `owned`, for a node's Own_ events: true if a cache of the
// node had newer data.
inline EventId qualify_agent(const BaseEvent& event, const AgentEntry& entry, const NetworkMessage* in, bool owned) {
  int word = 0;
  switch (event.guard) {
    case GuardGroup::no_acks_acks: word = entry.acks + in->acks == 0 ? 0 : 1; break;
    case GuardGroup::last_ack_more_acks: word = entry.acks == 1 ? 0 : 1; break;
    case GuardGroup::owned_clean: word = owned ? 0 : 1; break;
    default: break;
  }
  return static_cast<EventId>(event.first + word);
}

inline EventId qualify_directory(const BaseEvent& event, const DirectoryEntry& entry, const NetworkMessage& in) {
  int word = 0;
  switch (event.guard) {
    case GuardGroup::from_owner_from_other: word = entry.owner == in.source ? 0 : 1; break;
    case GuardGroup::last_sharer_more_sharers: word = (entry.sharers & ~(std::uint64_t{1} << in.source)) == 0 ? 0 : 1; break;
    case GuardGroup::sharers_no_sharers: word = entry.sharers != 0 ? 0 : 1; break;
    default: break;
  }
  return static_cast<EventId>(event.first + word);
}

// Runs one action of an agent's row, unless the action concerns only a bus. `in`: the incoming message, or null. `requester`:
// the cache whose transaction is on the node's bus, or kNobody.
template <AgentOutbox Outbox>
void agent_action(const AgentTable& agents, AgentEntry& entry, int self, Action action, const NetworkMessage* in, int requester,
                  Outbox& out) {
  const std::int8_t requestor = in != nullptr ? in->requestor : entry.requestor;
  const auto message = [&](std::int8_t on_behalf) {
    return NetworkMessage{agents.network_id(action.argument), static_cast<std::int8_t>(self), on_behalf, 0};
  };
  switch (action.verb) {
    case Verb::send_home: {
      // A relay has the requestor of the forward that caused the relay. All other messages have the agent itself as requestor.
      const bool relays = agents.protocol->messages[action.argument].message_class == MessageClass::relay;
      out.send_home(message(relays ? requestor : static_cast<std::int8_t>(self)));
      break;
    }
    case Verb::send_requestor: out.send(requestor, message(requestor)); break;
    case Verb::take_data: out.take_data(); break;
    case Verb::save_asker: entry.requester = static_cast<std::int16_t>(requester); break;
    case Verb::save_requestor: entry.requestor = in->requestor; break;
    case Verb::add_acks: entry.acks = static_cast<std::int8_t>(entry.acks + in->acks); break;
    case Verb::count_ack: --entry.acks; break;
    case Verb::run: out.run(); break;
    case Verb::recall: out.recall(action.argument); break;
    case Verb::complete: out.complete(); break;
    case Verb::free: out.free(); break;
    default: break;  // bus_order.hpp and the callers run the other verbs
  }
}

// Runs an agent's row for base event `base`: the incoming message `in`, an access, an eviction, or the order step of a node
// controller's own bus message (`owned` as for qualify_agent()). Errors: ProtocolFault, which leaves the entry half changed.
template <AgentOutbox Outbox>
StepResult agent_step(const AgentTable& agents, AgentEntry& entry, int self, std::size_t base, const NetworkMessage* in,
                      bool owned, Outbox& out) {
  const EventId event = qualify_agent(agents.table->base_events[base], entry, in, owned);
  const Row& row = agents.table->row(entry.state, event);
  if (row.impossible) {
    bus_order_detail::fail(ProtocolFault::Kind::impossible, *agents.protocol, agents.controller, entry.state, event);
  }
  out.on_transition(entry.state, event);
  if (row.stalls()) return StepResult::stalled;
  entry.state = row.next;
  if (row.count > 0 && row.actions[0].verb == Verb::hit) return StepResult::hit;
  for (const Action action : row.steps()) agent_action(agents, entry, self, action, in, kNobody, out);
  return StepResult::done;
}

// A node controller's answer to the question whether a bus transaction may be ordered.
struct Permission {
  bool granted = true;
  bool saved = false;  // true if the node controller runs the transaction later; if not granted or saved, the bus asks again
};
// Asks the node controller whether `bus_message` of cache `requester` may be ordered. Errors: ProtocolFault.
template <AgentOutbox Outbox>
Permission ask_step(const AgentTable& agents, AgentEntry& entry, int self, MessageId bus_message, int requester, Outbox& out) {
  const BaseEvent& base = agents.table->base_events[ask_event(agents.protocol->bus_messages, bus_message)];
  const Row& row = agents.table->row(entry.state, base.first);
  if (row.impossible) {
    bus_order_detail::fail(ProtocolFault::Kind::impossible, *agents.protocol, agents.controller, entry.state, base.first);
  }
  out.on_transition(entry.state, base.first);
  entry.state = row.next;
  Permission permission;
  for (const Action action : row.steps()) {
    if (action.verb == Verb::defer) permission.granted = false;
    if (action.verb == Verb::save_asker) permission.saved = true;
    agent_action(agents, entry, self, action, nullptr, requester, out);
  }
  return permission;
}

// Runs the directory's row for base event `base`. `in` is the incoming message; for Evict, a message without source and
// requestor. Errors: ProtocolFault.
template <DirectoryOutbox Outbox>
StepResult directory_event(const Protocol& protocol, DirectoryEntry& entry, std::size_t base, const NetworkMessage& in,
                           Outbox& out) {
  const ControllerTable& table = protocol.directory;
  const EventId event = qualify_directory(table.base_events[base], entry, in);
  const Row& row = table.row(entry.state, event);
  if (row.impossible)
    bus_order_detail::fail(ProtocolFault::Kind::impossible, protocol, Controller::directory, entry.state, event);
  out.on_transition(entry.state, event);
  if (row.stalls()) return StepResult::stalled;
  const StateId before = entry.state;
  entry.state = row.next;
  const auto bit = [](int agent) { return std::uint64_t{1} << agent; };
  const std::uint64_t others = in.requestor == kNobody ? entry.sharers : entry.sharers & ~bit(in.requestor);
  const int answers = row.does(Verb::send_sharers) ? std::popcount(others) : row.does(Verb::send_others) ? out.agents() - 1 : 0;
  for (const Action action : row.steps()) {
    const bool to_owner = action.verb == Verb::send_owner || action.verb == Verb::add_owner;
    if (to_owner && entry.owner == kNobody) {
      bus_order_detail::fail(ProtocolFault::Kind::nobody, protocol, Controller::directory, before, event);
    }
    NetworkMessage message{action.argument, kNobody, in.requestor, 0};
    switch (action.verb) {
      case Verb::send_requestor:
        message.acks = static_cast<std::int8_t>(answers);
        out.send(in.requestor, message);
        break;
      case Verb::send_owner: out.send(entry.owner, message); break;
      case Verb::send_sharers:
        for (std::uint64_t rest = others; rest != 0; rest &= rest - 1) out.send(std::countr_zero(rest), message);
        break;
      case Verb::send_others:
        for (int agent = 0; agent < out.agents(); ++agent) {
          if (agent != in.requestor) out.send(agent, message);
        }
        break;
      case Verb::update_memory: out.update_memory(); break;
      case Verb::set_owner: entry.owner = in.requestor; break;
      case Verb::clear_owner: entry.owner = kNobody; break;
      case Verb::add_requestor: entry.sharers |= bit(in.requestor); break;
      case Verb::add_owner: entry.sharers |= bit(entry.owner); break;
      case Verb::remove_sender: entry.sharers &= ~bit(in.source); break;
      case Verb::clear_sharers: entry.sharers = 0; break;
      default: break;  // parse_protocol() rejects all other verbs in a directory's rows
    }
  }
  return StepResult::done;
}

// Runs the directory's row for the incoming message `in`. Errors: ProtocolFault.
template <DirectoryOutbox Outbox>
StepResult directory_step(const Protocol& protocol, DirectoryEntry& entry, const NetworkMessage& in, Outbox& out) {
  return directory_event(protocol, entry, in.message, in, out);
}

// Runs the directory's row that evicts this line's entry to make room for another line's. Errors: ProtocolFault.
template <DirectoryOutbox Outbox>
StepResult directory_evict_step(const Protocol& protocol, DirectoryEntry& entry, Outbox& out) {
  const NetworkMessage nobodys{.message = 0, .source = kNobody, .requestor = kNobody, .acks = 0};
  return directory_event(protocol, entry, directory_evict_event(protocol), nobodys, out);
}

}  // namespace linebounce
