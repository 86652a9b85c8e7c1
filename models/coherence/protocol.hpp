// A coherence protocol as loaded from its Markdown file: dense tables, one row for each (state, qualified event).
// No SystemC here: the timed simulator, the model checker and the exporters all run these rows.
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

using StateId = std::uint8_t;    // index into ControllerTable::states; 0 is always the state without a copy, or the initial one
using EventId = std::uint8_t;    // index into ControllerTable::events, qualified: Own_GetS[shared] and Own_GetS[alone] are two
using MessageId = std::uint8_t;  // index into Protocol::messages

enum class Verb : std::uint8_t {
  // processor side
  hit,    // the access completes in this cache, now
  issue,  // put `argument` (a message) on the bus; at an own event: put it there again, as a new request
  stall,  // not now: the access is tried again when the line has changed
  free,   // the copy goes; next state must be the initial one
  // bus side, in the order step
  assert_shared,
  assert_owned,
  send_data,  // `argument`: bits of Destination; the data as of now
  complete,   // the pending access runs now, once, whatever the next order step does to the line
  // bus side, where a store updates the other copies
  send_word,   // the pending store runs now, in the order step, and the word that it wrote goes over the bus
  apply_word,  // a snooper's copy takes that word, in the same order step
  // memory's side, in the order step
  operate,  // the requestor's atomic operation runs now, on the line's data here
  // data step
  take_data,      // the data on the bus, or of the message, becomes this copy's
  update_memory,  // the data on the bus, or of the message, becomes memory's
  // node controller, towards its bus
  defer,       // not now: the transaction ends here, its cache still waits and is served later
  save_asker,  // remembers the cache whose transaction is deferred
  run,         // the saved cache's transaction gets its place in the bus's order
  recall,  // puts `argument` (a message of the bus) on the bus, so that the caches give up the line, or the right to write it
  // controllers on the network. `argument` is the message that is sent
  send_home,       // to the directory of the line's home
  send_requestor,  // to whom the message in hand speaks of, or the saved one; from a directory with the count of acks to expect
  send_owner,      // directory, group: to the owner
  send_sharers,    // directory, group: to every sharer but the requestor
  send_others,     // directory: to everybody but the requestor, whoever has the line
  save_requestor,  // node: remembers whom the message in hand speaks of
  add_acks,        // the message's count of acks is expected as well
  count_ack,       // one of them is here
  set_owner,       // directory: the requestor is the owner
  clear_owner,     // directory
  add_requestor,   // directory: to the sharers
  add_owner,       // directory: to the sharers
  remove_sender,   // directory: from the sharers
  clear_sharers,   // directory
  // group, towards its members. The member in question is the one whose message is in hand, or the saved one.
  save_member,     // remembers whose message is in hand
  send_member,     // to the member in question, with the count of acks to expect
  recall_owner,    // to the owner, whose answer is for the group
  recall_sharers,  // to all sharers, whose acknowledgements are for the group and are expected
  add_member,      // to the sharers
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
  bool impossible = true;         // this pair must never happen; the run stops when it does
  std::uint16_t source_line = 0;  // for messages; ControllerTable::place says of which file
  std::array<Action, kMaxActions> actions{};
  [[nodiscard]] std::span<const Action> steps() const { return {actions.data(), count}; }
  [[nodiscard]] bool stalls() const { return count > 0 && actions[0].verb == Verb::stall; }
  [[nodiscard]] bool does(Verb verb) const {
    return std::any_of(steps().begin(), steps().end(), [verb](Action action) { return action.verb == verb; });
  }
};
static_assert(sizeof(Row) == 16, "rows are found by a shift, and four share a cache line");

// What a qualifier looks at. The qualified events of a group follow each other, in the order of the words in its name.
enum class GuardGroup : std::uint8_t {
  none,
  shared_alone,              // did another controller raise the bus line `shared`?
  owned_clean,               // does a cache have data that is newer than memory's?
  owned_kept_clean,          // likewise, or else: is the requestor's own copy all that it needs?
  written_back_served,       // data came to memory: with a write-back, or as a cache served another
  no_acks_acks,              // node: with this message, are acks still to be expected?
  last_ack_more_acks,        // node
  from_owner_from_other,     // directory: is the message's sender the owner?
  last_sharer_more_sharers,  // directory, group: without the sender, is there a sharer left?
  sharers_no_sharers,        // directory
};

// The bus lines as raised in an order step, from which guards are decided.
struct BusLines {
  bool shared = false;
  bool owned = false;
  bool kept = false;          // the requestor needs no data
  bool written_back = false;  // the message in the order carries data
};

struct BaseEvent {
  std::string name;  // "Own_GetS"
  std::string meaning;
  GuardGroup guard = GuardGroup::none;
  EventId first = 0;  // of its qualified events
  EventId count = 1;
  bool absent = false;  // a message that this controller never gets
};

// What an access of a processor comes to.
enum class AccessResult : std::uint8_t { hit, issued, stalled, freed, impossible };

// By the row of a Load, Store, Evict or Atomic at a cache on a bus.
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
  std::array<AccessResult, 3> access{};  // derived, of a cache on a bus: by kLoad, kStore, kEvict
  AccessResult atomic{};                 // derived, of a cache on a bus: what an atomic operation comes to
  bool readable = false;                 // derived: Load does `hit`
  bool writable = false;                 // derived: Store does `hit`
  StateId after_store = 0;               // derived: next state of a Store that hits; the same state where none does
  bool stable = false;                   // derived: no Load, Store or Evict of it stalls, and it waits for nothing
  bool holds_data = false;               // derived, of a node: some row may still use the data that it has
  bool awaits_data = false;  // derived: its Data row is possible, so an order step that ends here is followed by a data step
  bool asks_again = false;   // derived: its Data row issues another request, and the access that waits goes on waiting
};

// A row of a transition table as its author wrote it: for people, never for the simulation. Row::source_line finds it.
struct WrittenRow {
  int line = 0;
  std::string in, on, actions, then, why;
};

// A file, and the number of its first line where the lines of several files are counted through.
struct FileLines {
  std::string name;
  int first_line = 1;
};

class ControllerTable {
 public:
  std::string name;              // "cache", "memory", "directory", "node" or "group"
  std::vector<FileLines> files;  // names without .md: the protocol's, then those of the protocols that it extends
  std::vector<StateInfo> states;
  std::vector<BaseEvent> base_events;
  std::vector<std::string> events;  // qualified names, by EventId

  // The qualified event for base event number `base` under these lines. REQUIRES: base < base_events.size().
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

  // Whether a row is of a file that the protocol's own extends.
  [[nodiscard]] bool inherits(int source_line) const { return files.size() > 1 && source_line >= files[1].first_line; }
  // "mesi_snoop.md:57".
  [[nodiscard]] std::string place(int source_line) const;

  std::vector<Row> rows;  // [state][event]

  std::vector<WrittenRow> written;  // in the file's order, then inherited ones
};

// Base events of a cache controller, at fixed places: what every protocol of a bus has. For message m of Protocol::messages
// the own event is own(m) and the other's is other(m). Behind those a table may have Atomic, see Protocol::atomic. A memory
// controller's base events are the messages, then Data.
enum CacheEvent : std::size_t { kLoad = 0, kStore = 1, kEvict = 2, kData = 3, kFirstMessage = 4 };
constexpr std::size_t own_event(MessageId message) {
  return kFirstMessage + 2 * static_cast<std::size_t>(message);
}
constexpr std::size_t other_event(MessageId message) {
  return own_event(message) + 1;
}

// Base events of a cache that is a controller on the network: Load, Store, Evict, then messages.
constexpr std::size_t kFirstNetworkMessage = kEvict + 1;

// Base events of a node controller, with m messages on its bus: what memory has (the messages, then Data), so that it can stand
// in memory's place; then for each message Ask_X (may it be ordered?) and Own_X (the node's own transaction was ordered);
// Evict; and what comes over the network.
constexpr std::size_t ask_event(std::size_t bus_messages, MessageId message) {
  return bus_messages + 1 + 2 * static_cast<std::size_t>(message);
}
constexpr std::size_t recalled_event(std::size_t bus_messages, MessageId message) {
  return ask_event(bus_messages, message) + 1;
}
constexpr std::size_t node_evict_event(std::size_t bus_messages) {
  return 3 * bus_messages + 1;
}

// Base events of a group's controller, with m messages on the network: what members send (Member_X), Evict, what comes from
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

// The classes of messages. On a network each has buffers of its own; what arrives in one may cause messages of later ones only.
// Forwards from one home to one node about one line keep their order; nothing else does.
enum class MessageClass : std::uint8_t { bus, request, forward, relay, response };
constexpr std::uint32_t kMessageClasses = 5;

struct Message {
  std::string name;  // "GetS"
  std::string meaning;
  bool carries_data = false;  // on a bus: its sender puts a line on the data bus (a write-back)
  MessageClass message_class = MessageClass::bus;
  bool absent_ignores = false;  // derived: a cache in the initial state does nothing at Other_<name> and need not be asked
  bool operates = false;        // derived, on a bus: memory's side runs the requestor's atomic operation when this is ordered
};

enum class BusKind : std::uint8_t { atomic, split };

// What a file describes: caches and memory on a bus; caches and directories on a network; the controller that joins the two;
// the controller of a group, a directory to its members and a cache to what it is a member of.
enum class ProtocolKind : std::uint8_t { bus, directory, node, group };

enum class Controller : std::uint8_t { cache, memory, directory, node, group };
constexpr std::size_t kControllers = 5;

struct Protocol {
  std::string name;   // the file's, without .md
  std::string title;  // the file's first heading
  ProtocolKind kind = ProtocolKind::bus;
  BusKind bus = BusKind::split;
  bool invariant_swmr = false;  // single writer or many readers holds
  bool invariant_data_value = false;
  bool sends_words = false;  // derived: a store to a shared line goes to the other copies, and takes no right from them
  // The base event of an atomic operation at a cache on a bus: Store, unless the table has an event Atomic.
  std::size_t atomic = kStore;
  // A node's: those of its bus, then those of its network.
  std::vector<Message> messages;
  std::size_t bus_messages = 0;  // how many of them are messages of a bus
  // A bus has cache and memory, a network cache and directory, a node or group its one; the others are empty.
  ControllerTable cache, memory, directory, node, group;
  std::string bus_partner, directory_partner;  // node: the protocols that it is proved with; group: the directory's only

  // Whether atomic operations may run at memory ("far") instead of in a cache.
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

// A file that is no protocol: what() is one "FILE:LINE: text" a line, ready for a user.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A protocol's file as text. The name is only for messages, and names the protocol.
struct ProtocolFile {
  std::string name, text;
};
// One, and then those that it extends, the nearest first.
using ProtocolFiles = std::vector<ProtocolFile>;

// The protocol that a file says it extends, and the line that says so.
struct Extended {
  std::string name;
  int line = 0;
};
std::optional<Extended> extended_by(const ProtocolFile& file);

// Reads a protocol. Errors: ProtocolError for a missing, duplicate, contradictory or unknown row, state, event, message, guard
// or action, each with its file and line; a missing pair is named with its controller.
Protocol parse_protocol(const ProtocolFiles& files);

// The same for a file with a node controller, which speaks the messages of a bus and of a network. parse_protocol refuses it.
Protocol parse_node_protocol(const ProtocolFiles& files, const Protocol& bus, const Protocol& directory);

// Likewise for a file with a group's controller, which speaks the messages of a network with members and outside.
Protocol parse_group_protocol(const ProtocolFiles& files, const Protocol& directory);

// The names of the protocols that a node's or group's file says it is for; nothing where the file has neither controller.
struct Partners {
  std::string bus, directory;  // of a group: no bus
};
std::optional<Partners> partners_of(const ProtocolFiles& files);

// A protocol as a page for the terminal: messages, a grid of states and events for each controller, and its rows, by state,
// with their reasons. Inherited rows bear the name of the protocol that they come from.
std::string describe_protocol(const Protocol& protocol);

}  // namespace linebounce
