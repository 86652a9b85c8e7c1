// Runs the rows of controllers on a network: caches, node controllers, groups and directories. The code knows no time: the
// timed simulator and the model checker call the same functions on the same type of entries, so the checked code is the code
// that runs.
//
// Controllers form a tree. A directory is the root; its members are the agents of the network: caches, node controllers or
// groups. A group is a directory to its own members, and an agent to its parent. A step processes one message, one event of a
// node's bus, one access of a processor, or one eviction. It sends messages through an Outbox, which decides when and in which
// order they arrive.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

#include "models/coherence/bus_order.hpp"
#include "models/coherence/controller_entry.hpp"

namespace linebounce {

// Carries out the effects that a step has outside the ControllerEntry. Members and agents are numbered from 0.
template <class T>
concept ControllerOutbox = requires(T out, const NetworkMessage& message, int number, MessageId bus_message, StateId state,
                                    EventId event) {
  out.send_home(message);                         // sends to the parent
  out.send(number, message);                      // sends to another agent of the parent
  out.send_member(number, message);               // group, directory: sends to one of its members
  { out.members() } -> std::convertible_to<int>;  // directory: the number of members
  out.take_data();                                // takes the data of the incoming message or the bus
  out.update_memory();                            // directory: writes the incoming message's data to memory
  out.run();                                      // node: puts the saved member's transaction on the bus again
  out.recall(bus_message);                        // node: puts the node controller's own message on the bus
  out.on_transition(state, event, state);         // called before the row runs; the last argument is the next state
};

// An Outbox for caches, which have two more actions.
template <class T>
concept CacheOutbox = ControllerOutbox<T> && requires(T out) {
  out.complete();  // runs the pending access
  out.free();      // drops the copy
};

// The event that a step processes.
struct Cause {
  Side side = Side::itself;
  const NetworkMessage* in = nullptr;  // the incoming message, if any
  int bus_member = kNobody;            // node: the cache whose transaction is on the bus
  bool owned = false;                  // node, in an Own_ event's step: true if a cache of the node had newer data
};

enum class StepResult : std::uint8_t { done, stalled, hit };

// One step of a controller in progress. run() and act() are inlined into the caller, so that the step's variables stay in
// registers.
template <ControllerOutbox Outbox>
class ControllerStep {
 public:
  // `self`: the controller's number among its parent's agents. REQUIRES: the arguments outlive the step.
  ControllerStep(const ControllerRules& rules, ControllerEntry& entry, int self, const Cause& cause, Outbox& out)
      : rules_(rules),
        entry_(entry),
        self_(static_cast<std::int8_t>(self)),
        cause_(cause),
        out_(out),
        before_(entry),
        member_(member_of(rules, entry, cause)) {}

  // Runs the row of base event `base`. Errors: ProtocolFault, which leaves the entry half changed.
  [[gnu::always_inline]] StepResult run(std::size_t base) {
    const ControllerTable& table = *rules_.table;
    event_ = qualify(table.base_events[base], {.bus = {.owned = cause_.owned}, .entry = &entry_, .in = cause_.in});
    const Row& row = table.row(before_.state, event_);
    if (row.impossible) fault(ProtocolFault::Kind::impossible);
    out_.on_transition(before_.state, event_, row.next);
    if (row.stalls()) return StepResult::stalled;
    entry_.state = row.next;
    if (row.count > 0 && row.actions[0].verb == Verb::hit) return StepResult::hit;
    row_ = &row;
    for (const Action action : row.steps()) act(action);
    return StepResult::done;
  }

  // Runs one action, except for those that concern only a bus.
  [[gnu::always_inline]] void act(Action action) {
    switch (action.verb) {
      case Verb::take_data: out_.take_data(); break;
      case Verb::update_memory: out_.update_memory(); break;
      case Verb::save_asker:
      case Verb::save_member: entry_.member = static_cast<std::int16_t>(member_); break;
      case Verb::save_requestor: entry_.requestor = cause_.in->requestor; break;
      case Verb::add_acks: entry_.acks = static_cast<std::int8_t>(entry_.acks + cause_.in->acks); break;
      case Verb::count_ack: --entry_.acks; break;
      case Verb::set_owner:
        entry_.owner = static_cast<std::int8_t>(known(member_));
        if (!rules_.is_directory()) entry_.sharers = 0;
        break;
      case Verb::clear_owner: entry_.owner = kNobody; break;
      case Verb::add_requestor:
      case Verb::add_member: entry_.sharers |= bit(known(member_)); break;
      case Verb::add_owner: entry_.sharers |= bit(known(entry_.owner)); break;
      case Verb::remove_sender: entry_.sharers &= ~bit(cause_.in->source); break;
      case Verb::clear_sharers: entry_.sharers = 0; break;
      case Verb::run: out_.run(); break;
      case Verb::recall: out_.recall(action.argument); break;
      case Verb::complete:
        if constexpr (CacheOutbox<Outbox>) out_.complete();
        break;
      case Verb::free:
        if constexpr (CacheOutbox<Outbox>) out_.free();
        break;
      case Verb::send_home: {
        // A relay has the requestor of the forward that caused it. All other messages have the agent itself as requestor.
        const bool relays = rules_.protocol->messages[action.argument].message_class == MessageClass::relay;
        out_.send_home(upwards(action, relays ? requestor() : self_));
        break;
      }
      case Verb::send_requestor:
        // A directory's requestor is one of its members.
        if (rules_.is_directory()) {
          answer_member(action);
        } else {
          out_.send(known(requestor()), upwards(action, requestor()));
        }
        break;
      case Verb::send_member: answer_member(action); break;
      case Verb::send_owner: out_.send_member(known(entry_.owner), downwards(action, member_)); break;
      case Verb::send_sharers: send_all(others(), downwards(action, member_)); break;
      case Verb::send_others:
        for (int member = 0; member < out_.members(); ++member) {
          if (member != member_) out_.send_member(member, downwards(action, member_));
        }
        break;
      case Verb::recall_owner: out_.send_member(known(entry_.owner), downwards(action, kGroupItself)); break;
      case Verb::recall_sharers:
        entry_.acks = static_cast<std::int8_t>(entry_.acks + std::popcount(entry_.sharers));
        send_all(entry_.sharers, downwards(action, kGroupItself));
        break;
      default: break;  // bus_order.hpp and the callers run the other verbs
    }
  }

 private:
  static std::uint64_t bit(int member) { return std::uint64_t{1} << member; }

  // The member that the step is about. A relayed message is about its requestor, and another message about its sender. Without
  // a message from a member it is the cache whose transaction is on the bus, or else the saved member.
  static int member_of(const ControllerRules& rules, const ControllerEntry& entry, const Cause& cause) {
    if (cause.side != Side::member) return entry.member;
    if (cause.in == nullptr) return cause.bus_member;
    const bool relayed = rules.protocol->messages[cause.in->message].message_class == MessageClass::relay;
    return relayed ? cause.in->requestor : cause.in->source;
  }
  // The agent on whose behalf the step runs.
  [[nodiscard]] std::int8_t requestor() const {
    return cause_.side == Side::outside ? cause_.in->requestor : before_.requestor;
  }
  // The sharers other than member_.
  [[nodiscard]] std::uint64_t others() const { return member_ >= 0 ? before_.sharers & ~bit(member_) : before_.sharers; }

  [[nodiscard]] NetworkMessage upwards(Action action, std::int8_t requestor) const {
    return {.message = rules_.network_id(action.argument), .source = self_, .requestor = requestor, .acks = 0};
  }
  [[nodiscard]] NetworkMessage downwards(Action action, int requestor) const {
    return {.message = action.argument, .source = kNobody, .requestor = static_cast<std::int8_t>(requestor), .acks = 0};
  }
  void answer_member(Action action) {
    NetworkMessage message = downwards(action, member_);
    message.acks = static_cast<std::int8_t>(acks_to_expect());
    out_.send_member(known(member_), message);
  }
  // The number of acknowledgements that the row's other messages cause, and for which the member must wait.
  [[nodiscard]] int acks_to_expect() const {
    if (row_->does(Verb::send_sharers)) return std::popcount(others());
    return row_->does(Verb::send_others) ? out_.members() - 1 : 0;
  }
  void send_all(std::uint64_t members, const NetworkMessage& message) {
    for (std::uint64_t rest = members; rest != 0; rest &= rest - 1) out_.send_member(std::countr_zero(rest), message);
  }

  [[noreturn]] void fault(ProtocolFault::Kind kind) const {
    bus_order_detail::fail(kind, *rules_.protocol, rules_.controller, before_.state, event_);
  }
  [[nodiscard]] int known(int number) const {
    if (number < 0) fault(ProtocolFault::Kind::nobody);
    return number;
  }

  const ControllerRules& rules_;
  ControllerEntry& entry_;
  const std::int8_t self_;
  const Cause& cause_;
  Outbox& out_;
  const ControllerEntry before_;  // the entry as the step found it
  const int member_;
  EventId event_ = 0;
  const Row* row_ = nullptr;  // the row that run() runs
};

// Runs a controller's row for base event `base`. Errors: ProtocolFault, which leaves the entry half changed.
template <ControllerOutbox Outbox>
StepResult controller_step(const ControllerRules& rules, ControllerEntry& entry, int self, std::size_t base, const Cause& cause,
                           Outbox& out) {
  return ControllerStep(rules, entry, self, cause, out).run(base);
}

// Runs a controller's row for the incoming message `in`. Errors: as for controller_step().
template <ControllerOutbox Outbox>
StepResult message_step(const ControllerRules& rules, ControllerEntry& entry, int self, Side side, const NetworkMessage& in,
                        Outbox& out) {
  return controller_step(rules, entry, self, rules.event_of(side, in.message), {.side = side, .in = &in}, out);
}

// Runs the row that evicts the line. REQUIRES: rules.can_evict(entry, from). Errors: as for controller_step().
template <ControllerOutbox Outbox>
StepResult evict_step(const ControllerRules& rules, ControllerEntry& entry, int self, Storage from, Outbox& out) {
  return controller_step(rules, entry, self, rules.eviction_base(from), {}, out);
}

// A node controller's answer to the question whether a bus transaction may be ordered.
struct Permission {
  bool granted = true;
  // True if the node controller has saved the request and runs it later; a request that is neither granted nor saved must ask
  // again.
  bool saved = false;
  bool is_all = false;  // true if running the row would change nothing
};
// Looks up the answer of the row for base event `ask`, without running the row. REQUIRES: `ask` is an ask_event().
inline Permission permission(const ControllerRules& rules, const ControllerEntry& entry, std::size_t ask) {
  const Row& row = rules.table->row(entry.state, rules.table->base_events[ask].first);
  Permission answer{.is_all = row.next == entry.state && !row.impossible};
  for (const Action action : row.steps()) {
    if (action.verb == Verb::defer) {
      answer.granted = false;
    } else {
      answer.is_all = false;
      if (action.verb == Verb::save_asker) answer.saved = true;
    }
  }
  return answer;
}
// Asks the node controller whether `bus_message` of cache `requester` may be ordered. Errors: as for controller_step().
template <ControllerOutbox Outbox>
Permission ask_step(const ControllerRules& rules, ControllerEntry& entry, int self, MessageId bus_message, int requester,
                    Outbox& out) {
  const std::size_t ask = ask_event(rules.protocol->bus_messages, bus_message);
  const Permission answer = permission(rules, entry, ask);
  controller_step(rules, entry, self, ask, {.side = Side::member, .bus_member = requester}, out);
  return answer;
}

}  // namespace linebounce
