#include "models/coherence/row_reads.hpp"

#include <algorithm>
#include <initializer_list>

namespace linebounce {

bool sends_to_network(Verb verb) {
  switch (verb) {
    case Verb::send_home:
    case Verb::send_requestor:
    case Verb::send_member:
    case Verb::send_owner:
    case Verb::send_sharers:
    case Verb::send_others:
    case Verb::recall_owner:
    case Verb::recall_sharers: return true;
    default: return false;
  }
}

namespace {

class RowReader {
 public:
  explicit RowReader(const ControllerRules& rules) : rules_(rules), protocol_(*rules.protocol) {}

  [[nodiscard]] LiveByState live_variables() const {
    LiveByState live(rules_.table->states.size());
    find_live(live, &Live::data, [this](Action action, Side) {
      if (action.verb == Verb::take_data || action.verb == Verb::update_memory) return Effect::sets;
      const bool reads = action.verb == Verb::hit || action.verb == Verb::operate || action.verb == Verb::send_data;
      return reads || (sends_to_network(action.verb) && carries_data(action)) ? Effect::reads : Effect::none;
    });
    find_live(live, &Live::requestor, [this](Action action, Side side) {
      if (action.verb == Verb::save_requestor) return Effect::sets;
      return side != Side::outside && names_requestor(action) ? Effect::reads : Effect::none;
    });
    find_live(live, &Live::owner,
              [](Action action, Side) {
                if (action.verb == Verb::set_owner || action.verb == Verb::clear_owner) return Effect::sets;
                const bool reads =
                    action.verb == Verb::send_owner || action.verb == Verb::recall_owner || action.verb == Verb::add_owner;
                return reads ? Effect::reads : Effect::none;
              },
              {GuardGroup::from_owner_from_other});
    find_live(live, &Live::sharers,
              [this](Action action, Side) {
                const bool sole = action.verb == Verb::set_owner && !rules_.is_directory();
                if (sole || action.verb == Verb::clear_sharers) return Effect::sets;
                return action.verb == Verb::send_sharers || action.verb == Verb::recall_sharers ? Effect::reads : Effect::none;
              },
              {GuardGroup::last_sharer_more_sharers, GuardGroup::sharers_no_sharers});
    if (rules_.controller == Controller::node) {
      // The saved member is live in all states, because the step that runs its request may come at any time, and clears the
      // number.
      for (Live& state : live) state.member = true;
    } else {
      find_live(live, &Live::member, [this](Action action, Side side) {
        if (action.verb == Verb::save_member) return Effect::sets;
        return side != Side::member && names_member(action) ? Effect::reads : Effect::none;
      });
    }
    return live;
  }

  [[nodiscard]] MessageUse use_of(Side side, MessageId message) const {
    const BaseEvent& event = rules_.table->base_events[rules_.event_of(side, message)];
    MessageUse use;
    if (event.absent) return use;
    const bool outside = side == Side::outside;
    const bool relayed = protocol_.messages[protocol_.bus_messages + message].message_class == MessageClass::relay;
    use.source = event.guard == GuardGroup::from_owner_from_other || event.guard == GuardGroup::last_sharer_more_sharers;
    use.acks = event.guard == GuardGroup::no_acks_acks;
    for (std::size_t state = 0; state < rules_.table->states.size(); ++state) {
      for (int i = 0; i < event.count; ++i) {
        const Row& row = rules_.table->row(static_cast<StateId>(state), static_cast<EventId>(event.first + i));
        for (const Action action : row.steps()) {
          const bool of_member = !outside && (names_member(action) || action.verb == Verb::save_member);
          use.source |= action.verb == Verb::remove_sender || (of_member && !relayed);
          use.requestor |=
              (of_member && relayed) || (outside && (action.verb == Verb::save_requestor || names_requestor(action)));
          use.acks |= action.verb == Verb::add_acks;
          use.data |= action.verb == Verb::take_data || action.verb == Verb::update_memory;
        }
      }
    }
    return use;
  }

 private:
  // The first effect of a row on a variable.
  enum class Effect : std::uint8_t { none, reads, sets };

  [[nodiscard]] bool carries_data(Action action) const { return protocol_.messages[action.argument].carries_data; }

  // True if the action reads the requestor, which the agent got with a message or has saved.
  [[nodiscard]] bool names_requestor(Action action) const {
    if (rules_.is_directory()) return false;
    return action.verb == Verb::send_requestor ||
           (action.verb == Verb::send_home && protocol_.messages[action.argument].message_class == MessageClass::relay);
  }
  // True if the action reads the number of the member on whose behalf the row runs.
  [[nodiscard]] bool names_member(Action action) const {
    switch (action.verb) {
      case Verb::send_requestor: return rules_.is_directory();
      case Verb::send_member:
      case Verb::send_owner:
      case Verb::send_sharers:
      case Verb::send_others:
      case Verb::set_owner:
      case Verb::add_requestor:
      case Verb::add_member: return true;
      default: return false;
    }
  }

  // Finds the states in which a variable is live. effect(action, side): what an action does with the variable in a row for an
  // event from that side. `guards`: the guard groups that read the variable.
  template <class EffectOf>
  void find_live(LiveByState& live, bool Live::*variable, EffectOf effect,
                 std::initializer_list<GuardGroup> guards = {}) const {
    const ControllerTable& table = *rules_.table;
    const auto reads = [&](std::size_t state, std::size_t base) {
      const BaseEvent& event = table.base_events[base];
      const bool guarded = std::find(guards.begin(), guards.end(), event.guard) != guards.end();
      for (int i = 0; i < event.count; ++i) {
        const Row& row = table.row(static_cast<StateId>(state), static_cast<EventId>(event.first + i));
        if (row.impossible) continue;
        if (guarded) return true;
        Effect first = Effect::none;
        for (const Action action : row.steps()) {
          if (first == Effect::none) first = effect(action, rules_.side_of(base));
        }
        if (first == Effect::reads || (first == Effect::none && live[row.next].*variable)) return true;
      }
      return false;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t state = 0; state < live.size(); ++state) {
        for (std::size_t base = 0; base < table.base_events.size() && !(live[state].*variable); ++base) {
          if (reads(state, base)) live[state].*variable = changed = true;
        }
      }
    }
  }

  const ControllerRules& rules_;
  const Protocol& protocol_;
};

}  // namespace

LiveByState live_variables(const ControllerRules& rules) {
  return RowReader(rules).live_variables();
}

MessageUse use_of(const ControllerRules& receiver, Side side, MessageId message) {
  return RowReader(receiver).use_of(side, message);
}

}  // namespace linebounce
