// A coherence protocol as loaded from its Markdown file: dense tables with one row for each (state, qualified event). The timed
// simulator, the model checker and the exporters all run these rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce {

using StateId = std::uint8_t;  // index into ControllerTable::states; 0 is the initial state, for a cache the one without a copy
using EventId = std::uint8_t;  // index into ControllerTable::events, qualified: Own_GetS[shared] and Own_GetS[alone] are two
using MessageId = std::uint8_t;  // index into Protocol::messages

enum class Verb : std::uint8_t {
  // processor side
  hit,    // completes the access in this cache
  issue,  // requests the bus for the message `argument`; at an own event, once more
  stall,  // the access is retried when the line has changed
  free,   // drops the copy; the next state must be the initial one
  // bus side, in the order step
  assert_shared,
  assert_owned,
  send_data,  // sends the present data to the Destination bits in `argument`
  complete,   // runs the pending access, once, whatever the next order step does to the line
  // bus side, where a store updates the other copies
  send_word,   // runs the pending store in the order step, and sends the stored word over the bus
  apply_word,  // a snooper's copy takes the word, in the same order step
  // memory's side, in the order step
  operate,  // runs the requestor's atomic on memory's data
  // data step
  take_data,      // copies the data on the bus or of the message into this copy
  update_memory,  // copies the data on the bus or of the message into memory
  // node controller, towards its bus
  defer,       // ends the transaction before its order step; its cache waits and is served later
  save_asker,  // saves the cache whose transaction is deferred
  run,         // posts the saved cache's transaction, which is granted
  recall,      // puts the bus message `argument` on the bus, to take the line, or the right to write it, from the caches
  // controllers on the network; `argument` is the message
  send_home,       // to the directory of the line's home
  send_requestor,  // to the requestor of the message in hand, or the saved one; a directory adds the number of acks to expect
  send_owner,      // directory, group: to the owner
  send_sharers,    // directory, group: to every sharer but the requestor
  send_others,     // directory: to every agent but the requestor
  save_requestor,  // node: saves the requestor of the message in hand
  add_acks,        // adds the message's number of acks to those expected
  count_ack,       // counts one of them
  set_owner,       // directory: makes the requestor the owner
  clear_owner,     // directory
  add_requestor,   // directory: adds the requestor to the sharers
  add_owner,       // directory: adds the owner to the sharers
  remove_sender,   // directory: removes the sender from the sharers
  clear_sharers,   // directory
  // group, towards its members; the member in question sent the message in hand, or is the saved one
  save_member,     // saves the sender of the message in hand
  send_member,     // to the member in question, with the number of acks to expect
  recall_owner,    // to the owner, which answers the group
  recall_sharers,  // to all sharers, whose acks the group expects
  add_member,      // adds the member in question to the sharers
};

enum Destination : std::uint8_t { to_requestor = 1, to_memory = 2 };

struct Action {
  Verb verb{};
  std::uint8_t argument = 0;  // a MessageId for issue, recall and all send_ but send_data; Destination bits for that
  friend bool operator==(Action, Action) = default;
};

constexpr std::size_t kMaxActions = 5;

struct Row {
  StateId next = 0;
  std::uint8_t count = 0;         // actions used
  bool impossible = true;         // the pair must never happen, and stops the run if it does
  std::uint16_t source_line = 0;  // in the Markdown file, for messages
  std::array<Action, kMaxActions> actions{};
  [[nodiscard]] std::span<const Action> steps() const { return {actions.data(), count}; }
  [[nodiscard]] bool stalls() const { return count > 0 && actions[0].verb == Verb::stall; }
  [[nodiscard]] bool does(Verb verb) const {
    return std::any_of(steps().begin(), steps().end(), [verb](Action action) { return action.verb == verb; });
  }
};
static_assert(sizeof(Row) == 16, "rows are found by a shift, and four share a cache line");

// The condition that a qualifier tests. A group's qualified events are consecutive, in the order of the words in its name.
enum class GuardGroup : std::uint8_t {
  none,
  shared_alone,              // did another controller raise the bus line `shared`?
  owned_clean,               // does a cache have data that is newer than memory's?
  owned_kept_clean,          // likewise, or is the requestor's own copy sufficient?
  written_back_served,       // did data reach memory by a write-back, or because a cache served another?
  no_acks_acks,              // node: with this message, are acks still to be expected?
  last_ack_more_acks,        // node
  from_owner_from_other,     // directory: is the message's sender the owner?
  last_sharer_more_sharers,  // directory, group: without the sender, is there a sharer left?
  sharers_no_sharers,        // directory
};

// The bus lines raised in an order step, which decide its guards.
struct BusLines {
  bool shared = false;
  bool owned = false;
  bool kept = false;          // the requestor needs no data
  bool written_back = false;  // the ordered message carries data
};

struct BaseEvent {
  std::string name;  // "Own_GetS"
  std::string meaning;
  GuardGroup guard = GuardGroup::none;
  EventId first = 0;  // of its qualified events
  EventId count = 1;
  bool absent = false;  // a message that this controller never receives
};

// The result of a processor's access.
enum class AccessResult : std::uint8_t { hit, issued, stalled, freed, impossible };

// The result of a Load, Store, Evict or Atomic row of a cache on a bus.
inline AccessResult access_result(const Row& row) {
  if (row.impossible) return AccessResult::impossible;
  for (const Action action : row.steps()) {
    if (action.verb == Verb::hit) return AccessResult::hit;
    if (action.verb == Verb::issue) return AccessResult::issued;
    if (action.verb == Verb::free) return AccessResult::freed;
  }
  return AccessResult::stalled;
}

struct StateInfo {
  std::string name;
  std::string meaning;
  std::array<AccessResult, 3> access{};  // derived for a cache on a bus, by kLoad, kStore, kEvict
  AccessResult atomic{};                 // derived for a cache on a bus
  bool readable = false;                 // derived: Load does `hit`
  bool writable = false;                 // derived: Store does `hit`
  StateId after_store = 0;               // derived: the next state of a Store that hits, else the state itself
  bool stable = false;                   // derived: no Load, Store or Evict stalls, and the state waits for nothing
  bool holds_data = false;               // derived for a node: some row may still use its data
  bool awaits_data = false;  // derived: the Data row is possible, so a data step follows an order step that ends here
  bool reissues = false;     // derived: the Data row issues another request, for which the access goes on waiting
};

// A row as its author wrote it, for display only. Row::source_line finds it.
struct WrittenRow {
  std::uint16_t line = 0;
  std::string in, on, actions, then, why;
};

class ControllerTable {
 public:
  std::string name;      // "cache", "memory", "directory", "node" or "group"
  std::string protocol;  // the protocol's name
  std::vector<StateInfo> states;
  std::vector<BaseEvent> base_events;
  std::vector<std::string> events;  // qualified names, by EventId

  // The qualified event of base event `base` under these bus lines. REQUIRES: base < base_events.size().
  [[nodiscard]] EventId qualify(std::size_t base, BusLines lines) const {
    const BaseEvent& event = base_events[base];
    switch (event.guard) {
      case GuardGroup::shared_alone: return static_cast<EventId>(event.first + (lines.shared ? 0 : 1));
      case GuardGroup::owned_clean: return static_cast<EventId>(event.first + (lines.owned ? 0 : 1));
      case GuardGroup::owned_kept_clean: return static_cast<EventId>(event.first + (lines.owned ? 0 : lines.kept ? 1 : 2));
      case GuardGroup::written_back_served: return static_cast<EventId>(event.first + (lines.written_back ? 0 : 1));
      default: break;
    }
    return event.first;
  }
  [[nodiscard]] const Row& row(StateId state, EventId event) const { return rows[state * events.size() + event]; }

  std::vector<Row> rows;  // [state][event]

  std::vector<WrittenRow> written;  // in the file's order
};

// The base events of a cache on a bus start with these. Message m of Protocol::messages has the events own(m) and other(m).
// Atomic may follow them (Protocol::atomic). A memory controller's base events are the messages, then Data.
enum CacheEvent : std::size_t { kLoad = 0, kStore = 1, kEvict = 2, kData = 3, kFirstMessage = 4 };
constexpr std::size_t own_event(MessageId message) {
  return kFirstMessage + 2 * static_cast<std::size_t>(message);
}
constexpr std::size_t other_event(MessageId message) {
  return own_event(message) + 1;
}

// The base events of a cache on a network: Load, Store, Evict, then messages.
constexpr std::size_t kFirstNetworkMessage = kEvict + 1;

// The base events of a node controller with m bus messages start with memory's (the messages, then Data), whose place it takes.
// Then follow Ask_X (may X be ordered?) and Own_X (the node's own X was ordered) for each message, Evict, and the network's
// messages.
constexpr std::size_t ask_event(std::size_t bus_messages, MessageId message) {
  return bus_messages + 1 + 2 * static_cast<std::size_t>(message);
}
constexpr std::size_t recalled_event(std::size_t bus_messages, MessageId message) {
  return ask_event(bus_messages, message) + 1;
}
constexpr std::size_t node_evict_event(std::size_t bus_messages) {
  return 3 * bus_messages + 1;
}

// The base events of a group controller with m network messages: Member_X for messages of members, Evict, messages from
// outside, and Evict_Entry.
constexpr std::size_t member_event(MessageId message) {
  return message;
}
constexpr std::size_t group_evict_event(std::size_t messages) {
  return messages;
}
constexpr std::size_t outside_event(std::size_t messages, MessageId message) {
  return messages + 1 + message;
}
constexpr std::size_t group_evict_entry_event(std::size_t messages) {
  return 2 * messages + 1;
}

// The classes of messages. On a network each has its own buffers, and a message may cause messages of later classes only.
// Only forwards from one home to one node about one line keep their order.
enum class MessageClass : std::uint8_t { bus, request, forward, relay, response };
constexpr std::uint32_t kMessageClasses = 5;

struct Message {
  std::string name;  // "GetS"
  std::string meaning;
  bool carries_data = false;  // on a bus: the sender puts a line on the data bus (a write-back)
  MessageClass message_class = MessageClass::bus;
  bool absent_ignores = false;  // derived: a cache in the initial state does nothing at Other_<name>, so it need not snoop
  bool operates = false;        // derived, on a bus: its order step runs the requestor's atomic at memory
};

enum class BusKind : std::uint8_t { atomic, split };

// The controllers that a file describes: caches and memory on a bus; caches and directories on a network; a node controller,
// which joins the two; or a group controller, a directory to its members and a cache to its parent.
enum class ProtocolKind : std::uint8_t { bus, directory, node, group };

enum class Controller : std::uint8_t { cache, memory, directory, node, group };
constexpr std::size_t kControllers = 5;

struct Protocol {
  std::string name;   // the file's name without .md
  std::string title;  // the file's first heading
  ProtocolKind kind = ProtocolKind::bus;
  BusKind bus = BusKind::split;
  bool invariant_swmr = false;  // single writer or many readers holds
  bool invariant_data_value = false;
  bool sends_words = false;  // derived: an update protocol, whose stores go to the other copies and don't invalidate them
  // The base event of an atomic at a cache on a bus: Store, unless the table has an event Atomic.
  std::size_t atomic = kStore;
  // A node has the messages of its bus, then those of its network.
  std::vector<Message> messages;
  std::size_t bus_messages = 0;  // how many of them are the bus's
  // A bus has cache and memory, a network cache and directory, a node or group only its own; the others are empty.
  ControllerTable cache, memory, directory, node, group;
  std::string bus_partner, directory_partner;  // node: the protocols that it is proved with; group: the directory's only

  // Whether atomics may run at memory ("far") instead of in a cache.
  [[nodiscard]] bool has_far_atomics() const { return atomic != kStore; }
  [[nodiscard]] const ControllerTable& table(Controller controller) const {
    const std::array<const ControllerTable*, kControllers> tables = {&cache, &memory, &directory, &node, &group};
    return *tables[static_cast<std::size_t>(controller)];
  }
  [[nodiscard]] ControllerTable& table(Controller controller) {
    const std::array<ControllerTable*, kControllers> tables = {&cache, &memory, &directory, &node, &group};
    return *tables[static_cast<std::size_t>(controller)];
  }
};

// Errors in a protocol file. what() has a line "FILE:LINE: text" for each, ready for a user.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Parses a protocol. `file` gives its name, and appears in messages. Errors: ProtocolError for each missing, duplicate,
// contradictory or unknown row, state, event, message, guard or action, with its line or, for a missing pair, its controller.
Protocol parse_protocol(std::string_view text, const std::string& file);

// Parses a node controller's protocol, which uses the messages of a bus and of a network. parse_protocol() refuses such a file.
Protocol parse_node_protocol(std::string_view text, const std::string& file, const Protocol& bus, const Protocol& directory);

// Parses a group controller's protocol, which uses a network's messages towards its members and its parent.
Protocol parse_group_protocol(std::string_view text, const std::string& file, const Protocol& directory);

// The names of a node's or group's partner protocols, as its file states them; nothing for other files.
struct Partners {
  std::string bus, directory;  // of a group: no bus
};
std::optional<Partners> partners_of(std::string_view text);

// A page for the terminal: the messages, and for each controller a grid of states and events and the rows with their reasons.
std::string describe_protocol(const Protocol& protocol);

}  // namespace linebounce
