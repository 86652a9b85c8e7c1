// Runs a protocol's rows on a bus. In an order step the bus orders a message, and all controllers react at once. A data step
// may follow. An access step starts a processor's access. The code is untimed: the timed simulator and the model checker call
// the same functions, each with its own LineCopies, so the checked code is the code that runs. One exception: an access whose
// row only does `hit` bypasses these functions (StateInfo::readable, writable).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>

#include "models/coherence/controller_entry.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

constexpr int kMostOnBus = 64;  // the most caches on one bus; their numbers are consecutive

// Thrown when a protocol does something that no correct protocol does. what() names the controller, state, event and row.
class ProtocolFault : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    impossible,      // a (state, event) pair occurred that the table calls impossible
    two_suppliers,   // two controllers sent data to one requestor
    no_data,         // the requestor waits for data that no controller sent
    nothing_passes,  // a snooper takes the data on the bus, where no controller sent any
    nobody           // a row sent a message to an owner or requestor that does not exist
  };
  ProtocolFault(Kind kind, const Protocol& protocol, Controller controller, StateId state, EventId event);

  Kind kind;
  Controller controller;
  StateId state;
  EventId event;
  int source_line;
};

// The copies of one line, through which the functions below read and set states, move data and carry out actions. Caches are
// numbered from 0.
//
// The functions of this file set the next state before they run a row's actions, so complete() finds the state that allows the
// access. After free(cache) they call nothing else for that copy. snoopers() may omit caches in state 0 if the message has
// Message::absent_ignores, and may include the requestor. The range that it returns must stay valid until the step ends.
template <class T>
concept AccessibleCopies = requires(T copies, int cache, StateId state, MessageId message, Controller controller, EventId event,
                                    StateId next) {
  { copies.state(cache) } -> std::same_as<StateId>;
  copies.set_state(cache, state);
  copies.issue(cache, message);                                 // the cache issues or reissues a request
  copies.free(cache);                                           // drops the cache's copy
  copies.on_transition(controller, cache, state, event, next);  // called before the row runs
};

template <class T>
concept LineCopies = AccessibleCopies<T> && requires(T copies, int cache, StateId state, MessageId message) {
  { copies.snoopers(message) } -> std::ranges::input_range;
  { copies.memory_state() } -> std::same_as<StateId>;
  copies.set_memory_state(state);
  copies.copy_to_bus(cache);  // the bus holds one line of data at a time
  copies.memory_to_bus();
  copies.bus_to_copy(cache);
  copies.bus_to_memory();
  copies.complete(cache);    // runs the cache's pending access
  copies.send_word(cache);   // runs the cache's pending store on the cache's own copy
  copies.apply_word(cache);  // writes the word that this order step stores into this cache's copy
  copies.operate(cache);     // runs the cache's pending atomic or store on memory's data
};

// Copies that notice when two caches offer different data in one step.
template <class T>
concept ComparesOffers = LineCopies<T> && requires(T copies, int cache) {
  copies.compare_offer(cache);  // the cache's data with the data on the bus
};

// The copies on a bus whose memory side is a node controller, which has more actions than memory.
template <class T>
concept NodeCopies = LineCopies<T> && requires(T copies, Action action) {
  copies.node_action(action);
};

struct OrderOutcome {
  BusLines lines;
  int supplier = kNobody;             // who supplies the requestor's data: a cache, kMemory, or kNobody if it needs none
  int memory_sender = kNobody;        // the cache that sent its data to memory
  bool completed = false;             // true if the requestor's access ran in this step
  bool word_sent = false;             // true if that access was a store whose word went to the other copies
  bool operated = false;              // true if the requestor's atomic or store ran in this step, on memory's data
  bool needs_data_step = false;       // true if data_step() must follow before this line's next order step
  std::optional<MessageId> reissued;  // the message that the requestor issues next, for the same access
  bool deferred = false;              // true if the node controller deferred the message, which is then not ordered yet

  [[nodiscard]] bool data_to_memory() const { return memory_sender != kNobody; }
};

namespace bus_order_detail {

[[noreturn]] void fail(ProtocolFault::Kind kind, const Protocol& protocol, Controller controller, StateId state, EventId event);

// One order step or data step in progress.
template <LineCopies Copies>
class Step {
 public:
  Step(const Protocol& protocol, Copies& copies, int requestor)
      : protocol_(protocol),
        copies_(copies),
        requestor_(requestor),
        rows_(protocol.cache.rows.data()),
        events_(protocol.cache.events.size()) {}

  OrderOutcome order(MessageId message) {
    snoop(message);
    const StateId before = copies_.state(requestor_);
    if (protocol_.memory.base_events[message].guard == GuardGroup::owned_kept_clean) outcome_.lines.kept = !wants_data(message);
    outcome_.lines.written_back = protocol_.messages[message].carries_data;
    run_memory(event_of(protocol_.memory, message));
    if (outcome_.deferred) return outcome_;
    if (outcome_.operated) {
      if (outcome_.data_to_memory()) run_memory_data();  // memory first takes a cache's newer data
      copies_.operate(requestor_);
    }
    const EventId own = event_of(protocol_.cache, own_event(message));
    run_cache(requestor_, own);
    if (word_takers_ != 0 && (outcome_.word_sent || outcome_.operated)) apply_word(message);
    if (data_takers_ != 0) take_passing_data(message);
    if (outcome_.data_to_memory() && !outcome_.operated) run_memory_data();
    outcome_.needs_data_step = !outcome_.completed && protocol_.cache.states[copies_.state(requestor_)].awaits_data;
    const bool takes_data = outcome_.needs_data_step || took_data_;
    if (takes_data && outcome_.supplier == kNobody) {
      fail(ProtocolFault::Kind::no_data, protocol_, Controller::cache, before, own);
    }
    if (!takes_data) outcome_.supplier = kNobody;
    return outcome_;
  }

  // Runs the order step of a message that the memory side itself issued. All caches react, and may send data to the memory
  // side.
  OrderOutcome recall(MessageId message) {
    snoop(message);
    return outcome_;
  }

  std::optional<MessageId> data() {
    run_cache(requestor_, event_of(protocol_.cache, kData));
    return outcome_.reissued;
  }

 private:
  // Runs the rows of all caches but the requestor.
  void snoop(MessageId message) {
    const EventId other = event_of(protocol_.cache, other_event(message));
    for (const int cache : copies_.snoopers(message)) {
      if (cache != requestor_) run_cache(cache, other);
    }
  }

  // Always inlined: most rows of a snoop have no actions, or only one or two.
  [[gnu::always_inline]] void run_cache(int cache, EventId event) {
    const StateId state = copies_.state(cache);
    const Row& row = rows_[state * events_ + event];
    if (row.impossible) [[unlikely]]
      fail(ProtocolFault::Kind::impossible, protocol_, Controller::cache, state, event);
    copies_.on_transition(Controller::cache, cache, state, event, row.next);
    copies_.set_state(cache, row.next);
    if (row.count == 0) return;
    const Verb first = row.actions[0].verb;
    if (row.count == 1 && first == Verb::assert_shared) {
      outcome_.lines.shared = true;
    } else if (row.count == 1 && first == Verb::free) {
      copies_.free(cache);
    } else {
      act(row, cache, state, event);
    }
  }

  [[gnu::noinline]] void act(const Row& row, int cache, StateId state, EventId event) {
    for (const Action action : row.steps()) act(action, cache, state, event);
  }

  void act(Action action, int cache, StateId state, EventId event) {
    switch (action.verb) {
      case Verb::assert_shared: outcome_.lines.shared = true; break;
      case Verb::assert_owned: outcome_.lines.owned = true; break;
      case Verb::send_data:
        copies_.copy_to_bus(cache);
        if ((action.argument & to_memory) != 0) outcome_.memory_sender = cache;
        if ((action.argument & to_requestor) != 0) supply(cache, Controller::cache, state, event);
        break;
      case Verb::offer_data: offer(cache, state, event); break;
      case Verb::take_data:
        if (cache == requestor_) {
          copies_.bus_to_copy(cache);
          took_data_ = true;
        } else {
          data_takers_ |= bit_of(cache);
        }
        break;
      case Verb::complete:
        outcome_.completed = true;
        copies_.complete(cache);
        break;
      case Verb::issue:
        outcome_.reissued = action.argument;
        copies_.issue(cache, action.argument);
        break;
      case Verb::free: copies_.free(cache); break;
      case Verb::send_word:
        outcome_.completed = outcome_.word_sent = true;
        copies_.send_word(cache);
        break;
      case Verb::apply_word: word_takers_ |= bit_of(cache); break;
      default: break;  // parse_protocol() rejects all other verbs in these rows
    }
  }

  // The bus takes the first offer; the others must be of the same data, so it does not matter which is the first.
  void offer(int cache, StateId state, EventId event) {
    if (offered_) {
      if constexpr (ComparesOffers<Copies>) copies_.compare_offer(cache);
      return;
    }
    copies_.copy_to_bus(cache);
    supply(cache, Controller::cache, state, event);
    offered_ = true;
  }

  static std::uint64_t bit_of(int cache) { return std::uint64_t{1} << cache % kMostOnBus; }

  // Writes the stored word into the copies of the caches whose rows did `apply word`. It is known now that memory, or the
  // requestor's row, has stored it.
  void apply_word(MessageId message) {
    for (const int cache : copies_.snoopers(message)) {
      if (cache != requestor_ && (word_takers_ & bit_of(cache)) != 0) copies_.apply_word(cache);
    }
    if (requestor_ != kMemory && (word_takers_ & bit_of(requestor_)) != 0) copies_.apply_word(requestor_);
  }

  // Copies the data that passes on the bus into the copies of the snoopers whose rows did `take data`.
  void take_passing_data(MessageId message) {
    for (const int cache : copies_.snoopers(message)) {
      if (cache == requestor_ || (data_takers_ & bit_of(cache)) == 0) continue;
      if (outcome_.supplier == kNobody && !outcome_.data_to_memory()) {
        fail(ProtocolFault::Kind::nothing_passes, protocol_, Controller::cache, copies_.state(cache),
             event_of(protocol_.cache, other_event(message)));
      }
      copies_.bus_to_copy(cache);
    }
  }

  void run_memory_data() { run_memory(event_of(protocol_.memory, protocol_.messages.size())); }

  void run_memory(EventId event) {
    const StateId state = copies_.memory_state();
    const Row& row = protocol_.memory.row(state, event);
    if (row.impossible) fail(ProtocolFault::Kind::impossible, protocol_, Controller::memory, state, event);
    copies_.on_transition(Controller::memory, kMemory, state, event, row.next);
    copies_.set_memory_state(row.next);
    for (const Action action : row.steps()) {
      switch (action.verb) {
        case Verb::update_memory: copies_.bus_to_memory(); break;
        case Verb::assert_shared: outcome_.lines.shared = true; break;
        case Verb::defer: outcome_.deferred = true; break;
        case Verb::operate: outcome_.operated = true; break;
        case Verb::send_data:
          copies_.memory_to_bus();
          supply(kMemory, Controller::memory, state, event);
          break;
        default:
          if constexpr (NodeCopies<Copies>) copies_.node_action(action);
          break;
      }
    }
  }

  // The qualified event that the bus's signals select.
  [[nodiscard]] EventId event_of(const ControllerTable& table, std::size_t base) const {
    return qualify(table.base_events[base], outcome_.lines);
  }

  // True if the requestor's row for its ordered message needs data.
  [[nodiscard]] bool wants_data(MessageId message) const {
    const Row& own_row = protocol_.cache.row(copies_.state(requestor_), event_of(protocol_.cache, own_event(message)));
    return protocol_.cache.states[own_row.next].awaits_data || own_row.does(Verb::take_data);
  }

  void supply(int supplier, Controller controller, StateId state, EventId event) {
    if (outcome_.supplier != kNobody) fail(ProtocolFault::Kind::two_suppliers, protocol_, controller, state, event);
    outcome_.supplier = supplier;
  }

  const Protocol& protocol_;
  Copies& copies_;
  const int requestor_;
  const Row* const rows_;  // the rows of the caches' table
  const std::size_t events_;
  OrderOutcome outcome_;
  bool took_data_ = false;
  bool offered_ = false;  // true if the supplier offered its data
  // Bit n is set if cache n (modulo kMostOnBus) takes this step's word, or its data without having requested it.
  std::uint64_t word_takers_ = 0, data_takers_ = 0;
};

}  // namespace bus_order_detail

// Runs the order step of `message` from cache `requestor`. REQUIRES: the requestor has issued the message, and this line has no
// data step outstanding. Errors: ProtocolFault, which leaves the line half changed.
template <LineCopies Copies>
OrderOutcome order_step(const Protocol& protocol, Copies& copies, MessageId message, int requestor) {
  return bus_order_detail::Step<Copies>(protocol, copies, requestor).order(message);
}

// Runs the order step of the node controller's own `message`. If the outcome has `lines.owned`, a cache had newer data than
// memory, and that data is now on the bus. Errors: as for order_step().
template <LineCopies Copies>
OrderOutcome recall_step(const Protocol& protocol, Copies& copies, MessageId message) {
  return bus_order_detail::Step<Copies>(protocol, copies, kMemory).recall(message);
}

// Delivers the order step's data to `requestor`. Returns the message that the requestor reissues, if any. REQUIRES: the order
// step's outcome had needs_data_step set.
template <LineCopies Copies>
std::optional<MessageId> data_step(const Protocol& protocol, Copies& copies, int requestor) {
  return bus_order_detail::Step<Copies>(protocol, copies, requestor).data();
}

// Runs the row for base event `access` (Load, Store, Evict or Protocol::atomic) in `cache`. If the result is `hit`, the caller
// reads or writes the copy. If `issued`, the access is pending until complete() or operate(). If `stalled`, nothing changes.
template <AccessibleCopies Copies>
AccessResult access_step(const Protocol& protocol, Copies& copies, int cache, std::size_t access) {
  const StateId state = copies.state(cache);
  const EventId event = qualify(protocol.cache.base_events[access], BusLines{});
  const Row& row = protocol.cache.row(state, event);
  if (row.impossible) bus_order_detail::fail(ProtocolFault::Kind::impossible, protocol, Controller::cache, state, event);
  copies.on_transition(Controller::cache, cache, state, event, row.next);
  copies.set_state(cache, row.next);
  for (const Action action : row.steps()) {
    if (action.verb == Verb::issue) copies.issue(cache, action.argument);
    if (action.verb == Verb::free) copies.free(cache);
  }
  return access_result(row);
}

}  // namespace linebounce
