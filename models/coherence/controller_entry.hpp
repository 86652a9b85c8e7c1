// Controllers on a network: the entry that each keeps for a line, the messages between them, and the table that each runs.
#pragma once

#include <array>
#include <cstdint>

#include "models/coherence/protocol.hpp"
#include "models/ordinal.hpp"

namespace linebounce {

// kNobody and kMemory stand in for a cache's number.
constexpr int kNobody = -1;
constexpr int kMemory = -2;
// The number of a group itself as the requestor of a recall. The group's members are numbered from 0.
constexpr std::int8_t kGroupItself = 126;

// A message about one line, on its way through the network. Agents (caches, node controllers or groups) are numbered from 0.
struct NetworkMessage {
  MessageId message = 0;      // index into the directory protocol's messages
  std::int8_t source = 0;     // the sending agent; kNobody if a directory or group sent the message to a member
  std::int8_t requestor = 0;  // the agent whose request caused the message
  std::int8_t acks = 0;       // how many acknowledgements the receiver must expect
  friend bool operator==(const NetworkMessage&, const NetworkMessage&) = default;
};

// A controller's record of one line. The line's data is stored elsewhere.
struct ControllerEntry {
  StateId state = 0;
  // Acks still expected; negative if acks arrived before the message that says how many to expect.
  std::int8_t acks = 0;
  std::int8_t requestor = kNobody;  // node, group: the outside agent for which the line is recalled from the members
  std::int8_t owner = kNobody;      // directory, group: the member that owns the line
  std::int16_t member = kNobody;    // node, group: the member (on a node's bus: the cache) whose saved request is served later
  std::uint64_t sharers = 0;        // directory, group: bit n is set if member n is a sharer
  friend bool operator==(const ControllerEntry&, const ControllerEntry&) = default;
};

// Where the cause of a step comes from, as seen from the controller.
enum class Side : std::uint8_t {
  outside,  // the controller's parent, or another agent of the parent
  member,   // one of the controller's own members: its message, or a transaction on a node's bus
  itself,   // the controller or its processor
};

// A controller's storage of limited size: its cache holds lines' data, and its directory or filter holds entries.
enum class Storage : std::uint8_t { cache, entries };
constexpr std::size_t kStorages = 2;

// The facts that select one of an event's qualified events.
struct Circumstances {
  BusLines bus = {};
  const ControllerEntry* entry = nullptr;  // null for a controller on a bus
  const NetworkMessage* in = nullptr;      // the incoming message, or null
};

// The answer to a question about the bus's signals, counted from 0.
inline int answer_of(GuardGroup guard, const BusLines& bus) {
  switch (guard) {
    case GuardGroup::shared_alone: return bus.shared ? 0 : 1;
    case GuardGroup::owned_clean: return bus.owned ? 0 : 1;
    case GuardGroup::owned_kept_clean: return bus.owned ? 0 : bus.kept ? 1 : 2;
    case GuardGroup::owned_shared_alone: return bus.owned ? 0 : bus.shared ? 1 : 2;
    case GuardGroup::written_back_served: return bus.written_back ? 0 : 1;
    default: return 0;
  }
}

// The answer to the event's question, counted from 0. REQUIRES: as for qualify().
inline int answer_of(GuardGroup guard, const Circumstances& now) {
  switch (guard) {
    case GuardGroup::no_acks_acks: return now.entry->acks + now.in->acks == 0 ? 0 : 1;
    case GuardGroup::last_ack_more_acks: return now.entry->acks == 1 ? 0 : 1;
    case GuardGroup::from_owner_from_other: return now.entry->owner == now.in->source ? 0 : 1;
    case GuardGroup::last_sharer_more_sharers: return (now.entry->sharers & ~(std::uint64_t{1} << now.in->source)) == 0 ? 0 : 1;
    case GuardGroup::sharers_no_sharers: return now.entry->sharers != 0 ? 0 : 1;
    default: return answer_of(guard, now.bus);
  }
}

// Returns the qualified event that `now` selects. REQUIRES: `now` has the fields that the event's guard group reads.
inline EventId qualify(const BaseEvent& event, const Circumstances& now) {
  if (event.guard == GuardGroup::none) return event.first;  // most events; the compiler inlines this part alone
  return static_cast<EventId>(event.first + answer_of(event.guard, now));
}

// qualify() for a controller on a bus.
inline EventId qualify(const BaseEvent& event, const BusLines& bus) {
  return static_cast<EventId>(event.first + answer_of(event.guard, bus));
}

// The table that a controller on a network runs, and the indices of its base events.
struct ControllerRules {
  ControllerRules(const Protocol& whole, Controller which) : protocol(&whole), controller(which), table(&whole.table(which)) {
    const std::size_t messages = whole.messages.size();
    switch (which) {
      case Controller::directory: evictions = {nullptr, present(messages)}; break;
      case Controller::group:
        first_outside = outside_event(messages, 0);
        evictions = {present(group_evict_event(messages)), present(group_evict_entry_event(messages))};
        break;
      case Controller::node:
        first_outside = node_evict_event(whole.bus_messages) + 1;
        evictions = {present(node_evict_event(whole.bus_messages)), nullptr};
        break;
      default: first_outside = kFirstNetworkMessage; break;
    }
  }
  // The rules of the agents that a protocol file describes: its nodes, groups or caches.
  static ControllerRules of_agents(const Protocol& whole) {
    const bool node = whole.kind == ProtocolKind::node, group = whole.kind == ProtocolKind::group;
    return {whole, node ? Controller::node : group ? Controller::group : Controller::cache};
  }

  [[nodiscard]] bool is_directory() const { return controller == Controller::directory; }
  [[nodiscard]] bool has_members() const { return is_directory() || controller == Controller::group; }
  // The base event of a message. REQUIRES: `side` is outside or member.
  [[nodiscard]] std::size_t event_of(Side side, MessageId message) const {
    return (side == Side::outside ? first_outside : 0) + message;
  }
  // The side from which base event `base` comes.
  [[nodiscard]] Side side_of(std::size_t base) const {
    const std::size_t messages = protocol->messages.size() - protocol->bus_messages;
    if (has_members() && base < messages) return Side::member;
    const bool outside = !is_directory() && base >= first_outside && base < first_outside + messages;
    return outside ? Side::outside : Side::itself;
  }
  // The network message that base event `base` receives; null if `base` is another event.
  [[nodiscard]] const Message* message_of(std::size_t base) const {
    const Side side = side_of(base);
    if (side == Side::itself) return nullptr;
    return &protocol->messages[protocol->bus_messages + base - (side == Side::outside ? first_outside : 0)];
  }
  // Converts a row's message argument, which counts a node's bus messages first, to the directory protocol's message id.
  [[nodiscard]] MessageId network_id(std::uint8_t argument) const {
    return static_cast<MessageId>(argument - protocol->bus_messages);
  }

  // The base event that evicts a line; null if the table has none.
  [[nodiscard]] const BaseEvent* eviction(Storage from) const { return evictions[ordinal(from)]; }
  // REQUIRES: the table has the event.
  [[nodiscard]] std::size_t eviction_base(Storage from) const { return eviction(from) - table->base_events.data(); }
  // True if the line occupies a slot in `storage`: it could be evicted from there, now or later.
  [[nodiscard]] bool occupies(const ControllerEntry& entry, Storage storage) const {
    const Row* row = eviction_row(entry, storage);
    return row != nullptr && !row->impossible;
  }
  [[nodiscard]] bool can_evict(const ControllerEntry& entry, Storage storage) const {
    const Row* row = eviction_row(entry, storage);
    return row != nullptr && !row->impossible && !row->stalls();
  }

  const Protocol* protocol;
  Controller controller;
  const ControllerTable* table;
  std::size_t first_outside = 0;  // the base event of message 0 from outside; messages of members are numbered from 0
  std::array<const BaseEvent*, kStorages> evictions{};

 private:
  [[nodiscard]] const BaseEvent* present(std::size_t base) const {
    const BaseEvent& event = table->base_events[base];
    return event.absent ? nullptr : &event;
  }
  [[nodiscard]] const Row* eviction_row(const ControllerEntry& entry, Storage storage) const {
    const BaseEvent* event = eviction(storage);
    return event == nullptr ? nullptr : &table->row(entry.state, qualify(*event, {.entry = &entry}));
  }
};

}  // namespace linebounce
