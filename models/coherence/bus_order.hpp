// How a bus runs a protocol's rows: the order step, in which a message gets its place and everybody reacts to it at once, the
// data step that may follow, and the processor's own accesses. No time here. The timed simulator and the model checker both
// call these functions with copies of their own, so what is checked is what runs. This is the one place where rows are executed
// (the exception: accesses that only `hit`, see StateInfo::readable and writable).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>

#include "models/coherence/protocol.hpp"

namespace linebounce {

// In the place of a cache's number.
constexpr int kNobody = -1;
constexpr int kMostOnBus = 64;  // caches, whose numbers follow each other
constexpr int kMemory = -2;

// A protocol did what no correct one does. what() names the controller, state, event and the row's line.
class ProtocolFault : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    impossible,     // a pair that the table says can't be
    two_suppliers,  // two controllers send data to one requestor
    no_data,        // the requestor waits for data and nobody sent it any
    nobody          // a message to an owner or requestor, but there is none
  };
  ProtocolFault(Kind kind, const Protocol& protocol, Controller controller, StateId state, EventId event);

  Kind kind;
  Controller controller;
  StateId state;
  EventId event;
  int source_line;
};

// One line as the rows see it: who is in which state, where the data is, and what the rows want done. Caches count from 0.
//
// The new state is set before the row's actions run, and set_state() changes nothing else; so complete() finds the state in
// which the access may run, and free() comes last for a copy. snoopers() may leave out caches in state 0 as long as
// Message::absent_ignores holds; the range stays valid while the functions below are called. It may contain the requestor.
template <class T>
concept AccessibleCopies = requires(T copies, int cache, StateId state, MessageId message, Controller controller, EventId event,
                                    StateId next) {
  { copies.state(cache) } -> std::same_as<StateId>;
  copies.set_state(cache, state);
  copies.issue(cache, message);                                 // a request of this cache begins, or begins again
  copies.free(cache);                                           // the copy and its place are given up
  copies.on_transition(controller, cache, state, event, next);  // before the row runs, with the state it leaves
};

template <class T>
concept LineCopies = AccessibleCopies<T> && requires(T copies, int cache, StateId state, MessageId message) {
  { copies.snoopers(message) } -> std::ranges::input_range;
  { copies.memory_state() } -> std::same_as<StateId>;
  copies.set_memory_state(state);
  copies.copy_to_bus(cache);  // one line of data is on the bus at a time
  copies.memory_to_bus();
  copies.bus_to_copy(cache);
  copies.bus_to_memory();
  copies.complete(cache);  // the pending access of this cache runs now
  // The pending store of this cache runs now, on its copy as it is. / Another cache's copy takes the word that it wrote.
  copies.send_word(cache);
  copies.apply_word(cache);
  copies.operate(cache);  // the pending atomic operation of this cache runs now, on memory's data
};

// Copies behind whose bus stands a node controller: what its rows want done beyond what memory does.
template <class T>
concept NodeCopies = LineCopies<T> && requires(T copies, Action action) {
  copies.node_action(action);
};

struct OrderOutcome {
  BusLines lines;
  int supplier = kNobody;        // who supplies data that the requestor takes: a cache, kMemory, or kNobody when none is needed
  int memory_sender = kNobody;   // the cache whose line of data went to memory as well, or alone
  bool completed = false;        // the requestor's access ran in this step
  bool word_sent = false;        // that access was a store, and its word went to the other copies
  bool operated = false;         // the requestor's atomic operation ran in this step, at memory
  bool needs_data_step = false;  // data_step() must follow before this line's next order step
  std::optional<MessageId> reissued;  // the requestor asks again, with this message
  bool deferred = false;              // memory's controller has put it off: the requestor still waits for its order step

  [[nodiscard]] bool data_to_memory() const { return memory_sender != kNobody; }
};

namespace bus_order_detail {

[[noreturn]] void fail(ProtocolFault::Kind kind, const Protocol& protocol, Controller controller, StateId state, EventId event);

// One order step or data step while it runs.
template <LineCopies Copies>
class Step {
 public:
  Step(const Protocol& protocol, Copies& copies, int requestor) : protocol_(protocol), copies_(copies), requestor_(requestor), rows_(protocol.cache.rows.data()), events_(protocol.cache.events.size()) {}

  OrderOutcome order(MessageId message) {
    const EventId other = protocol_.cache.qualify(other_event(message), {});
    for (const int cache : copies_.snoopers(message)) {
      if (cache != requestor_) run_cache(cache, other);
    }
    const StateId before = copies_.state(requestor_);
    const Row& own_row = protocol_.cache.row(before, protocol_.cache.qualify(own_event(message), outcome_.lines));
    outcome_.lines.kept = !wants_data(own_row);
    outcome_.lines.written_back = protocol_.messages[message].carries_data;
    run_memory(protocol_.memory.qualify(message, outcome_.lines));
    if (outcome_.deferred) return outcome_;
    if (outcome_.operated) {
      if (outcome_.data_to_memory()) run_memory_data();  // what a cache had newer
      copies_.operate(requestor_);
    }
    const EventId own = protocol_.cache.qualify(own_event(message), outcome_.lines);
    run_cache(requestor_, own);
    if (outcome_.word_sent) apply_word(message);
    if (outcome_.data_to_memory() && !outcome_.operated) run_memory_data();
    outcome_.needs_data_step = !outcome_.completed && protocol_.cache.states[copies_.state(requestor_)].awaits_data;
    const bool takes_data = outcome_.needs_data_step || took_data_;
    if (takes_data && outcome_.supplier == kNobody) {
      fail(ProtocolFault::Kind::no_data, protocol_, Controller::cache, before, own);
    }
    if (!takes_data) outcome_.supplier = kNobody;
    return outcome_;
  }

  // A transaction of the memory side itself: all caches react, and what they send is for it.
  OrderOutcome recall(MessageId message) {
    const EventId other = protocol_.cache.qualify(other_event(message), {});
    for (const int cache : copies_.snoopers(message)) run_cache(cache, other);
    return outcome_;
  }

  std::optional<MessageId> data() {
    run_cache(requestor_, protocol_.cache.qualify(kData, {}));
    return outcome_.reissued;
  }

 private:
  void run_cache(int cache, EventId event) {
    const StateId state = copies_.state(cache);
    const Row& row = rows_[state * events_ + event];
    if (row.impossible) fail(ProtocolFault::Kind::impossible, protocol_, Controller::cache, state, event);
    copies_.on_transition(Controller::cache, cache, state, event, row.next);
    copies_.set_state(cache, row.next);
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
      case Verb::take_data:
        copies_.bus_to_copy(cache);
        took_data_ = true;
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
      case Verb::apply_word: takers_ |= std::uint64_t{1} << cache % kMostOnBus; break;
      default: break;  // parse_protocol lets all others stand elsewhere only
    }
  }

  // The word exists only when the requestor's row has run, which is last: then the snoopers that asked for it get it.
  void apply_word(MessageId message) {
    for (const int cache : copies_.snoopers(message)) {
      if ((takers_ >> cache % kMostOnBus & 1) != 0) copies_.apply_word(cache);
    }
  }

  void run_memory_data() { run_memory(protocol_.memory.qualify(protocol_.messages.size(), outcome_.lines)); }

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

  [[nodiscard]] bool wants_data(const Row& own_row) const {
    return protocol_.cache.states[own_row.next].awaits_data || own_row.does(Verb::take_data);
  }

  void supply(int supplier, Controller controller, StateId state, EventId event) {
    if (outcome_.supplier != kNobody) fail(ProtocolFault::Kind::two_suppliers, protocol_, controller, state, event);
    outcome_.supplier = supplier;
  }

  const Protocol& protocol_;
  Copies& copies_;
  const int requestor_;
  const Row* const rows_;  // of the cache
  const std::size_t events_;
  OrderOutcome outcome_;
  bool took_data_ = false;
  std::uint64_t takers_ = 0;  // bit n: cache n, modulo kMostOnBus, takes the word of this step, if one is sent
};

}  // namespace bus_order_detail

// `message` of cache `requestor` gets its place in the bus's order. REQUIRES: the requestor issued it and it has not been
// ordered since; no data step of this line is due. Errors: ProtocolFault, with the line half changed.
template <LineCopies Copies>
OrderOutcome order_step(const Protocol& protocol, Copies& copies, MessageId message, int requestor) {
  return bus_order_detail::Step<Copies>(protocol, copies, requestor).order(message);
}

// `message` of the controller in memory's place is ordered: a recall. `owned` among the outcome's lines says that a cache had
// newer data, which is on the bus then. Errors: as order_step.
template <LineCopies Copies>
OrderOutcome recall_step(const Protocol& protocol, Copies& copies, MessageId message) {
  return bus_order_detail::Step<Copies>(protocol, copies, kMemory).recall(message);
}

// The data that the order step put on the bus arrives at `requestor`. Returns the message that it asks again with, if it does.
// REQUIRES: its order step's outcome said needs_data_step.
template <LineCopies Copies>
std::optional<MessageId> data_step(const Protocol& protocol, Copies& copies, int requestor) {
  return bus_order_detail::Step<Copies>(protocol, copies, requestor).data();
}

// The base event `access` at `cache`: a Load, Store, Evict or Protocol::atomic. After `hit` the caller reads or writes the
// copy; after `issued` the access is pending until complete() or operate(); after `stalled` nothing has changed.
template <AccessibleCopies Copies>
AccessResult access_step(const Protocol& protocol, Copies& copies, int cache, std::size_t access) {
  const StateId state = copies.state(cache);
  const EventId event = protocol.cache.qualify(access, {});
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
