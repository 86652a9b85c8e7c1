// Runs the rows of a group controller, which acts as a directory to its members and as a cache to its parent. Like
// network_order.hpp, the code knows no time, and both the timed simulator and the model checker call it.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

#include "models/coherence/network_order.hpp"

namespace linebounce {

// The number of the group itself when it is the requestor of a recall. The group's members are numbered from 0.
constexpr std::int8_t kGroupItself = 126;

// A group controller's state of a line, without the data.
struct GroupEntry {
  StateId state = 0;
  std::int8_t acks = 0;             // how many acknowledgements are still expected, from members or from outside
  std::int8_t member = kNobody;     // the saved member, whose request the group serves later
  std::int8_t requestor = kNobody;  // the outside agent for which the group recalls the line from its members
  std::int8_t owner = kNobody;      // the member that owns the line
  std::uint64_t sharers = 0;        // bit n is set if member n is a sharer
  friend bool operator==(const GroupEntry&, const GroupEntry&) = default;
};

// Carries out the effects that a step has outside the GroupEntry.
template <class T>
concept GroupOutbox = requires(T out, const NetworkMessage& message, int agent, StateId state, EventId event) {
  out.send_home(message);           // sends to the parent
  out.send(agent, message);         // sends to another agent of the parent
  out.send_member(agent, message);  // sends to a member of this group
  out.take_data();                  // takes the data of the incoming message
  out.on_transition(state, event);  // called before the row runs
};

// The cause of an event: a message from a member, a message from outside, or an eviction from the group's cache or filter.
enum class GroupSide : std::uint8_t { member, outside, cache, filter };

inline EventId qualify_group(const BaseEvent& event, const GroupEntry& entry, const NetworkMessage* in) {
  int word = 0;
  switch (event.guard) {
    case GuardGroup::no_acks_acks: word = entry.acks + in->acks == 0 ? 0 : 1; break;
    case GuardGroup::last_ack_more_acks: word = entry.acks == 1 ? 0 : 1; break;
    case GuardGroup::from_owner_from_other: word = entry.owner == in->source ? 0 : 1; break;
    case GuardGroup::last_sharer_more_sharers: word = (entry.sharers & ~(std::uint64_t{1} << in->source)) == 0 ? 0 : 1; break;
    case GuardGroup::sharers_no_sharers: word = entry.sharers != 0 ? 0 : 1; break;
    default: break;
  }
  return static_cast<EventId>(event.first + word);
}

// The row that evicts the line from `side`, the group's cache or filter. Null if the protocol has no such event.
// REQUIRES: `side` is cache or filter.
inline const Row* group_eviction(const Protocol& protocol, const GroupEntry& entry, GroupSide side) {
  const std::size_t messages = protocol.messages.size();
  const BaseEvent& event =
      protocol.group.base_events[side == GroupSide::cache ? group_evict_event(messages) : group_evict_entry_event(messages)];
  return event.absent ? nullptr : &protocol.group.row(entry.state, qualify_group(event, entry, nullptr));
}
// True if groups have a filter in addition to their cache.
inline bool group_filters(const Protocol& protocol) {
  return !protocol.group.base_events[group_evict_entry_event(protocol.messages.size())].absent;
}
// True if the line occupies a slot in `side`, the group's cache or filter. The line's eviction row is possible only then.
inline bool group_has_place(const Protocol& protocol, const GroupEntry& entry, GroupSide side) {
  const Row* row = group_eviction(protocol, entry, side);
  return row != nullptr && !row->impossible;
}
// True if the line occupies a slot in `side` and can be evicted from it now.
inline bool group_can_evict(const Protocol& protocol, const GroupEntry& entry, GroupSide side) {
  return group_has_place(protocol, entry, side) && !group_eviction(protocol, entry, side)->stalls();
}

// One step of a group in progress.
template <GroupOutbox Outbox>
class GroupStep {
 public:
  // `in`: the incoming message; null for GroupSide::cache and filter. `self`: the group's number among its parent's agents.
  GroupStep(const Protocol& protocol, GroupEntry& entry, int self, GroupSide side, const NetworkMessage* in, Outbox& out)
      : protocol_(protocol), entry_(entry), self_(static_cast<std::int8_t>(self)), side_(side), in_(in), out_(out) {}

  // Runs the step's row. Errors: ProtocolFault, which leaves the entry half changed.
  StepResult run() {
    const ControllerTable& table = protocol_.group;
    event_ = qualify_group(table.base_events[base()], entry_, in_);
    before_ = entry_.state;
    const Row& row = table.row(entry_.state, event_);
    if (row.impossible) fault(ProtocolFault::Kind::impossible);
    out_.on_transition(entry_.state, event_);
    if (row.stalls()) return StepResult::stalled;
    entry_.state = row.next;
    member_ = side_ == GroupSide::member ? in_->source : entry_.member;
    others_ = member_ >= 0 ? entry_.sharers & ~bit(member_) : entry_.sharers;
    invalidates_ = row.does(Verb::send_sharers);
    for (const Action action : row.steps()) act(action);
    return StepResult::done;
  }

 private:
  static std::uint64_t bit(int member) { return std::uint64_t{1} << member; }

  [[nodiscard]] std::size_t base() const {
    const std::size_t messages = protocol_.messages.size();
    switch (side_) {
      case GroupSide::member: return member_event(in_->message);
      case GroupSide::outside: return outside_event(messages, in_->message);
      case GroupSide::cache: return group_evict_event(messages);
      case GroupSide::filter: break;
    }
    return group_evict_entry_event(messages);
  }

  [[noreturn]] void fault(ProtocolFault::Kind kind) const {
    bus_order_detail::fail(kind, protocol_, Controller::group, before_, event_);
  }
  [[nodiscard]] int known(std::int8_t member) const {
    if (member < 0) fault(ProtocolFault::Kind::nobody);
    return member;
  }

  void act(Action action) {
    const std::int8_t requestor = side_ == GroupSide::outside ? in_->requestor : entry_.requestor;
    const auto inside = [&](std::int8_t requester) { return NetworkMessage{action.argument, kNobody, requester, 0}; };
    switch (action.verb) {
      case Verb::send_home: out_.send_home({action.argument, self_, self_, 0}); break;
      case Verb::send_requestor: out_.send(known(requestor), {action.argument, self_, requestor, 0}); break;
      case Verb::send_member: {
        NetworkMessage message = inside(static_cast<std::int8_t>(known(member_)));
        message.acks = static_cast<std::int8_t>(invalidates_ ? std::popcount(others_) : 0);
        out_.send_member(member_, message);
        break;
      }
      case Verb::send_owner: out_.send_member(known(entry_.owner), inside(static_cast<std::int8_t>(known(member_)))); break;
      case Verb::send_sharers: to_all(others_, inside(static_cast<std::int8_t>(known(member_)))); break;
      case Verb::recall_owner: out_.send_member(known(entry_.owner), inside(kGroupItself)); break;
      case Verb::recall_sharers:
        entry_.acks = static_cast<std::int8_t>(entry_.acks + std::popcount(entry_.sharers));
        to_all(entry_.sharers, inside(kGroupItself));
        break;
      case Verb::take_data: out_.take_data(); break;
      case Verb::save_member: entry_.member = member_ = in_->source; break;
      case Verb::save_requestor: entry_.requestor = in_->requestor; break;
      case Verb::add_acks: entry_.acks = static_cast<std::int8_t>(entry_.acks + in_->acks); break;
      case Verb::count_ack: --entry_.acks; break;
      case Verb::set_owner:
        entry_.owner = static_cast<std::int8_t>(known(member_));
        entry_.sharers = 0;
        break;
      case Verb::clear_owner: entry_.owner = kNobody; break;
      case Verb::add_member: entry_.sharers |= bit(known(member_)); break;
      case Verb::add_owner: entry_.sharers |= bit(known(entry_.owner)); break;
      case Verb::remove_sender: entry_.sharers &= ~bit(in_->source); break;
      case Verb::clear_sharers: entry_.sharers = 0; break;
      default: break;  // parse_group_protocol() rejects all other verbs
    }
  }

  void to_all(std::uint64_t members, const NetworkMessage& message) {
    for (std::uint64_t rest = members; rest != 0; rest &= rest - 1) out_.send_member(std::countr_zero(rest), message);
  }

  const Protocol& protocol_;
  GroupEntry& entry_;
  const std::int8_t self_;
  const GroupSide side_;
  const NetworkMessage* in_;
  Outbox& out_;
  EventId event_ = 0;
  StateId before_ = 0;
  std::int8_t member_ = kNobody;  // the member that sent the incoming message, else the saved member
  std::uint64_t others_ = 0;      // the sharers other than member_
  bool invalidates_ = false;
};

template <GroupOutbox Outbox>
StepResult group_step(const Protocol& protocol, GroupEntry& entry, int self, GroupSide side, const NetworkMessage* in,
                      Outbox& out) {
  return GroupStep(protocol, entry, self, side, in, out).run();
}

}  // namespace linebounce
