// A coherence protocol as loaded from its Markdown file: dense tables, one row for each (state, qualified event).
// No SystemC here: the timed simulator, the model checker and the exporters all run these rows.
#pragma once

#include <array>
#include <cstdint>
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
  // data step
  take_data,      // the data on the bus becomes this copy's
  update_memory,  // memory controller: the data on the bus becomes memory's
};

enum Destination : std::uint8_t { to_requestor = 1, to_memory = 2 };

struct Action {
  Verb verb{};
  std::uint8_t argument = 0;  // a MessageId for issue, Destination bits for send_data
  friend bool operator==(Action, Action) = default;
};

constexpr std::size_t kMaxActions = 5;

struct Row {
  StateId next = 0;
  std::uint8_t count = 0;         // actions used
  bool impossible = true;         // this pair must never happen; the run stops when it does
  std::uint16_t source_line = 0;  // of the Markdown file, for messages
  std::array<Action, kMaxActions> actions{};
  [[nodiscard]] std::span<const Action> steps() const { return {actions.data(), count}; }
};
static_assert(sizeof(Row) == 16, "rows are found by a shift, and four share a cache line");

// What a qualifier looks at. The first word of each pair is the qualified event's first id, the second the next one.
enum class GuardGroup : std::uint8_t { none, shared_alone, owned_clean };

// The bus lines as raised in an order step, from which guards are decided.
struct BusLines {
  bool shared = false;
  bool owned = false;
};

struct BaseEvent {
  std::string name;  // "Own_GetS"
  std::string meaning;
  GuardGroup guard = GuardGroup::none;
  EventId first = 0;  // its qualified events are first, or first and first + 1
};

struct StateInfo {
  std::string name;
  std::string meaning;
  bool readable = false;     // derived: Load does `hit`
  bool writable = false;     // derived: Store does `hit`
  StateId after_store = 0;   // derived: next state of a Store that hits; the same state where none does
  bool stable = false;       // derived: no Load, Store or Evict of it stalls, and it waits for nothing
  bool awaits_data = false;  // derived: its Data row is possible, so an order step that ends here is followed by a data step
};

// A row of a transition table as its author wrote it: for people, never for the simulation. Row::source_line finds it.
struct WrittenRow {
  std::uint16_t line = 0;
  std::string in, on, actions, then, why;
};

class ControllerTable {
 public:
  std::string name;  // "cache" or "memory"
  std::vector<StateInfo> states;
  std::vector<BaseEvent> base_events;
  std::vector<std::string> events;  // qualified names, by EventId

  // The qualified event for base event number `base` under these lines. REQUIRES: base < base_events.size().
  [[nodiscard]] EventId qualify(std::size_t base, BusLines lines) const {
    const BaseEvent& event = base_events[base];
    switch (event.guard) {
      case GuardGroup::shared_alone: return static_cast<EventId>(event.first + (lines.shared ? 0 : 1));
      case GuardGroup::owned_clean: return static_cast<EventId>(event.first + (lines.owned ? 0 : 1));
      case GuardGroup::none: break;
    }
    return event.first;
  }
  [[nodiscard]] const Row& row(StateId state, EventId event) const { return rows[state * events.size() + event]; }

  std::vector<Row> rows;  // [state][event]

  std::vector<WrittenRow> written;  // in the file's order
};

// Base events of a cache controller, at fixed places: what every protocol of a bus has. For message m of Protocol::messages
// the own event is own(m) and the other's is other(m). A memory controller's base events are the messages, then Data.
enum CacheEvent : std::size_t { kLoad = 0, kStore = 1, kEvict = 2, kData = 3, kFirstMessage = 4 };
constexpr std::size_t own_event(MessageId message) {
  return kFirstMessage + 2 * static_cast<std::size_t>(message);
}
constexpr std::size_t other_event(MessageId message) {
  return own_event(message) + 1;
}

struct Message {
  std::string name;  // "GetS"
  std::string meaning;
  bool carries_data = false;    // its sender puts a line on the data bus (a write-back)
  bool absent_ignores = false;  // derived: a cache in the initial state does nothing at Other_<name> and need not be asked
};

enum class BusKind : std::uint8_t { atomic, split };

enum class Controller : std::uint8_t { cache, memory };

struct Protocol {
  std::string name;   // the file's, without .md
  std::string title;  // the file's first heading
  BusKind bus = BusKind::split;
  bool invariant_swmr = false;  // single writer or many readers holds
  bool invariant_data_value = false;
  std::vector<Message> messages;
  ControllerTable cache;
  ControllerTable memory;

  [[nodiscard]] const ControllerTable& table(Controller controller) const {
    return controller == Controller::cache ? cache : memory;
  }
};

// A file that is no protocol: what() is one "FILE:LINE: text" a line, ready for a user.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads a protocol. `file` is only for messages and the name. Errors: ProtocolError for a missing, duplicate, contradictory or
// unknown row, state, event, message, guard or action, each with its line; a missing pair is named with its controller.
Protocol parse_protocol(std::string_view text, const std::string& file);

// A protocol as a page for the terminal: messages, a grid of states and events for each controller, and its rows, by state,
// with their reasons.
std::string describe_protocol(const Protocol& protocol);

}  // namespace linebounce
