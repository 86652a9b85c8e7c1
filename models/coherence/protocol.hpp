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

#include "models/ordinal.hpp"

namespace linebounce {

using StateId = std::uint8_t;    // index into ControllerTable::states; 0 is the initial state, in which a cache has no copy
using EventId = std::uint8_t;    // index into ControllerTable::events; Own_GetS [shared] and Own_GetS [alone] have two ids
using MessageId = std::uint8_t;  // index into Protocol::messages

enum class Verb : std::uint8_t {
  // Actions of a cache towards its processor.
  hit,    // completes the access in this cache
  issue,  // asks the bus to order the message `argument`; in an Own_ or Data row, a further request for the same access
  stall,  // leaves the access or the network message waiting until the line's state changes
  free,   // drops the copy; the next state must be the initial one
  // Actions on a bus, in the order step.
  assert_shared,
  assert_owned,
  send_data,   // sends the controller's data to the recipients in `argument`, which are Destination bits
  offer_data,  // sends it to the requestor, unless another cache has offered the same data
  complete,    // runs the pending access now, so that it succeeds even if the next order step takes the line away
  // Actions on a bus, in protocols whose stores update the other copies.
  send_word,   // runs the pending store in the order step, and sends the stored word over the bus
  apply_word,  // writes the word that the requestor stores in this order step into this copy
  // Action of memory in the order step.
  operate,  // runs the requestor's atomic, or on an atomic bus its store, on memory's data
  // Actions that use data from the bus or a message.
  take_data,      // copies the data from the bus or the incoming message into this copy
  update_memory,  // copies the data from the bus or the incoming message into memory
  // Actions of a node controller towards its bus.
  defer,       // ends the transaction before its order step; the requesting cache waits and is served later
  save_asker,  // saves the number of the cache whose transaction is deferred
  run,         // puts the saved cache's transaction on the bus again, this time granted
  recall,      // puts the bus message `argument` on the bus, to take the line, or the right to write it, from the caches
  // Actions of controllers on the network. "The message" is the one that `argument` names. A prefix such as "directory:" names
  // the
  // only controllers that have the action.
  send_home,       // sends the message to the directory of the line's home
  send_requestor,  // sends the message to the requestor of the incoming message, or to the saved requestor
  send_owner,      // directory, group: sends the message to the owner
  send_sharers,    // directory, group: sends the message to every sharer but the requestor
  send_others,     // directory: sends the message to every agent but the requestor
  save_requestor,  // node, group: saves the incoming message's requestor
  add_acks,        // adds the incoming message's ack count to the number of acks expected
  count_ack,       // subtracts 1 from the number of acks expected
  set_owner,       // makes the requestor the owner; a group instead makes the member (see below) the sole owner
  clear_owner,     // directory, group: the line then has no owner
  add_requestor,   // directory: adds the requestor to the sharers
  add_owner,       // directory, group: adds the owner to the sharers
  remove_sender,   // directory, group: removes the incoming message's sender from the sharers
  clear_sharers,   // directory, group: removes all sharers
  // Actions of a group controller towards its members. "The member" is the member that sent the incoming message, or if there
  // is
  // none, the saved member.
  save_member,     // saves the incoming message's sender as the member
  send_member,     // sends the message to the member, with the number of acks to expect
  recall_owner,    // sends the message to the owner, which answers the group
  recall_sharers,  // sends the message to all sharers, whose acks go to the group
  add_member,      // adds the member to the sharers
};

enum Destination : std::uint8_t { to_requestor = 1, to_memory = 2 };

struct Action {
  Verb verb{};
  std::uint8_t argument = 0;  // Destination bits for send_data; a MessageId for verbs that issue, send or recall a message
  friend bool operator==(Action, Action) = default;
};

constexpr std::size_t kMaxActions = 5;

struct Row {
  StateId next = 0;
  std::uint8_t count = 0;         // how many of `actions` are used
  bool impossible = true;         // true if the (state, event) pair must never happen; the run stops if it does
  std::uint16_t source_line = 0;  // the row's line number, which ControllerTable::place() turns into "FILE:LINE"
  std::array<Action, kMaxActions> actions{};
  [[nodiscard]] std::span<const Action> steps() const { return {actions.data(), count}; }
  [[nodiscard]] bool stalls() const { return count > 0 && actions[0].verb == Verb::stall; }
  [[nodiscard]] bool does(Verb verb) const {
    return std::any_of(steps().begin(), steps().end(), [verb](Action action) { return action.verb == verb; });
  }
};
static_assert(sizeof(Row) == 16, "rows are found by a shift, and four share a cache line");

// A question that splits an event into qualified events, one for each answer: shared_alone splits Own_GetS into
// Own_GetS [shared] and Own_GetS [alone]. Their ids are consecutive, in the order of the answers in the enumerator's name.
enum class GuardGroup : std::uint8_t {
  none,
  shared_alone,  // did another controller raise the bus signal `shared`?
  owned_clean,   // does a cache have data that is newer than memory's?
  // owned: a cache has newer data than memory; kept: none has, and the requestor needs no data; clean: none has, and it needs
  // data.
  owned_kept_clean,
  written_back_served,       // did data reach memory in a write-back, or because one cache served another?
  no_acks_acks,              // agent, group: after adding the message's ack count, is the number of acks expected 0?
  last_ack_more_acks,        // agent, group: is the message the last ack expected?
  from_owner_from_other,     // directory, group: is the message's sender the owner?
  last_sharer_more_sharers,  // directory, group: is no sharer left besides the message's sender?
  sharers_no_sharers,        // directory, group: does the line have sharers?
  // Owned: another cache supplies the line; shared: other caches have copies but do not supply it; alone: no other copy
  // exists.
  owned_shared_alone,
};

// The bus's signals in an order step. They answer the questions of GuardGroup.
struct BusLines {
  bool shared = false;
  bool owned = false;
  bool kept = false;          // true if the requestor needs no data
  bool written_back = false;  // true if the ordered message carries data
};

struct BaseEvent {
  std::string name;  // such as "Own_GetS"
  std::string meaning;
  GuardGroup guard = GuardGroup::none;
  EventId first = 0;  // id of the first of the event's qualified events
  EventId count = 1;
  bool absent = false;  // true if the file doesn't list the event, such as a message that this controller never receives
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
  std::array<AccessResult, 3>
      access{};             // derived for a cache on a bus: what Load, Store and Evict do, indexed by kLoad, kStore, kEvict
  AccessResult atomic{};    // derived for a cache on a bus: what the event Protocol::atomic does
  bool readable = false;    // derived: true if Load does `hit`
  bool writable = false;    // derived: true if Store does `hit`
  StateId after_store = 0;  // derived: the next state of a Store that hits, else this state
  bool stable = false;      // derived: true if no transaction for the line is in progress in this state
  bool holds_data = false;  // derived for a node or group: true if a row may still use the controller's data
  // Derived: true if the Data row is possible; a data step follows an order step that ends in this state.
  bool awaits_data = false;
  bool reissues = false;  // derived: true if the Data row issues another request; the access then keeps waiting
};

// A row as its author wrote it, for display only. The compiled Row has the same line number in Row::source_line.
struct WrittenRow {
  int line = 0;
  std::string in, on, actions, then, why;
};

// A file, and the number of its first line. The lines of a protocol's files are numbered consecutively.
struct FileLines {
  std::string name;
  int first_line = 1;
};

class ControllerTable {
 public:
  std::string name;              // "cache", "memory", "directory", "node" or "group"
  std::vector<FileLines> files;  // the protocol's file, then those that it extends; names without .md
  std::vector<StateInfo> states;
  std::vector<BaseEvent> base_events;
  std::vector<std::string> events;  // the names of the qualified events, indexed by EventId

  [[nodiscard]] const Row& row(StateId state, EventId event) const { return rows[state * events.size() + event]; }

  // True if the row with this line number comes from a file that the protocol extends.
  [[nodiscard]] bool inherits(int source_line) const { return files.size() > 1 && source_line >= files[1].first_line; }
  // The file and line of a row, such as "mesi_snoop.md:57".
  [[nodiscard]] std::string place(int source_line) const;

  std::vector<Row> rows;  // indexed [state][event]

  // Derived for a cache on a bus, by state: bit k is set if an Access of value k (models/access.hpp) hits and keeps the state.
  std::vector<std::uint8_t> hits;

  std::vector<WrittenRow> written;  // the file's own rows in their order, then the inherited rows
};

// The first base events of a cache on a bus. Two events for each message follow, own_event() and other_event(), and then
// Atomic if the protocol has it (Protocol::atomic). A memory controller's base events are the messages, then Data.
enum CacheEvent : std::size_t { kLoad = 0, kStore = 1, kEvict = 2, kData = 3, kFirstMessage = 4 };
constexpr std::size_t own_event(MessageId message) {
  return kFirstMessage + 2 * static_cast<std::size_t>(message);
}
constexpr std::size_t other_event(MessageId message) {
  return own_event(message) + 1;
}

// Index of the first message among the base events of a cache on a network. Load, Store and Evict precede it.
constexpr std::size_t kFirstNetworkMessage = kEvict + 1;

// The base events of a node controller. First come memory's events, because the controller replaces memory on its bus: the bus
// messages, then Data. Ask_X (may X be ordered?) and Own_X (the controller's own X was ordered) follow for each bus message X,
// then Evict, then the network's messages.
constexpr std::size_t ask_event(std::size_t bus_messages, MessageId message) {
  return bus_messages + 1 + 2 * static_cast<std::size_t>(message);
}
constexpr std::size_t recalled_event(std::size_t bus_messages, MessageId message) {
  return ask_event(bus_messages, message) + 1;
}
constexpr std::size_t node_evict_event(std::size_t bus_messages) {
  return 3 * bus_messages + 1;
}

// The base events of a group controller, in this order: Member_X (a member sent X) for each network message X, Evict, X (sent
// from outside) for each network message X, and Evict_Entry.
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

// Message classes. On a network each class has its own buffers, and a message may cause messages of later classes only.
// The network keeps the order of forwards from one home to one node about one line, and of no other messages.
enum class MessageClass : std::uint8_t { bus, request, forward, relay, response };
constexpr std::uint32_t kMessageClasses = 5;

struct Message {
  std::string name;  // such as "GetS"
  std::string meaning;
  bool carries_data = false;  // on a bus: true if the sender puts a line on the data bus (a write-back)
  MessageClass message_class = MessageClass::bus;
  bool absent_ignores = false;  // derived: true if caches without a copy ignore Other_<name>, so that they need not snoop
  bool operates = false;        // derived, on a bus: true if the message's order step runs the requestor's access at memory
};

// atomic: data comes in the order step. split: data comes later, and other lines use the bus meanwhile.
enum class BusKind : std::uint8_t { atomic, split };

// Which controllers a file describes. bus: caches and memory. directory: caches and directories on a network. node: a node
// controller, which joins a bus to a network. group: a group controller, a directory to its members and a cache to its parent.
enum class ProtocolKind : std::uint8_t { bus, directory, node, group };

enum class Controller : std::uint8_t { cache, memory, directory, node, group };
constexpr std::size_t kControllers = 5;

struct Protocol {
  std::string name;   // the file's name without .md
  std::string title;  // the file's first heading
  ProtocolKind kind = ProtocolKind::bus;
  BusKind bus = BusKind::split;
  bool invariant_swmr = false;        // true if the single-writer/multiple-reader invariant holds
  bool invariant_data_value = false;  // true if every readable copy has the value written last
  bool sends_words = false;  // derived: true for an update protocol, whose stores update other copies and don't invalidate them
  // The base event that an atomic operation causes in a cache on a bus: Store, unless the table has an Atomic event.
  std::size_t atomic = kStore;
  // A node's protocol has its bus's messages, followed by its network's.
  std::vector<Message> messages;
  std::size_t bus_messages = 0;  // how many of `messages` are the bus's; these come first
  // A bus protocol fills `cache` and `memory`, a network protocol `cache` and `directory`, and a node's or group's protocol
  // only its own table. The other tables are empty.
  ControllerTable cache, memory, directory, node, group;
  std::string bus_partner, directory_partner;  // names of the protocols that a node works with; a group has no bus partner

  // True if atomics may run at memory ("far") instead of in a cache.
  [[nodiscard]] bool has_far_atomics() const { return atomic != kStore; }
  [[nodiscard]] const ControllerTable& table(Controller controller) const {
    const std::array<const ControllerTable*, kControllers> tables = {&cache, &memory, &directory, &node, &group};
    return *tables[ordinal(controller)];
  }
  [[nodiscard]] ControllerTable& table(Controller controller) {
    const std::array<ControllerTable*, kControllers> tables = {&cache, &memory, &directory, &node, &group};
    return *tables[ordinal(controller)];
  }
};

// Reports the errors in a protocol file. what() has one line "FILE:LINE: text" per error, ready to show to a user.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A protocol file as text. `name` becomes the protocol's name and appears in error messages.
struct ProtocolFile {
  std::string name, text;
};
// A protocol's own file, then those that it extends, the nearest first.
using ProtocolFiles = std::vector<ProtocolFile>;

// The protocol that a file extends, and the line that names it.
struct Extended {
  std::string name;
  int line = 0;
};
std::optional<Extended> extended_by(const ProtocolFile& file);

// Parses a protocol of a bus or network. Errors: a ProtocolError that lists missing, duplicate, contradictory and unknown rows,
// states, events, messages, guards and actions, each with file and line.
Protocol parse_protocol(const ProtocolFiles& files);

// Parses a node controller's protocol, which uses the messages of `bus` and of `directory`. Errors: as for parse_protocol().
Protocol parse_node_protocol(const ProtocolFiles& files, const Protocol& bus, const Protocol& directory);

// Parses a group controller's protocol, which uses the messages of `directory` towards both its members and its parent.
Protocol parse_group_protocol(const ProtocolFiles& files, const Protocol& directory);

// The names of the protocols that a node's or group's protocol works with, as its file states them. partners_of() returns
// nothing for other kinds of protocols.
struct Partners {
  std::string bus, directory;  // `bus` is empty for a group
};
std::optional<Partners> partners_of(const ProtocolFiles& files);

// Formats a protocol as a page for the terminal: its messages and, for each controller, an overview of next states and the
// rows with their reasons. An overview is no wider than `columns` unless a single state needs more. An inherited row shows
// the name of the protocol that it comes from.
constexpr std::size_t kWidestGrid = 118;
std::string describe_protocol(const Protocol& protocol, std::size_t columns = kWidestGrid);

}  // namespace linebounce
