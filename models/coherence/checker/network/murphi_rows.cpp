#include "models/coherence/checker/network/murphi_rows.hpp"

namespace linebounce::checker {

using Role = MurphiPlace::Role;

std::string_view MurphiRows::state_kind(Role role) {
  if (role == Role::home) return kHomeState;
  return role == Role::bus_cache ? kCacheState : kAgentState;
}

std::string MurphiRows::guard(GuardGroup group, int word) {
  const auto unless = [word](const char* condition) {
    return word == 0 ? std::string(condition) : fmt::format("!({})", condition);
  };
  switch (group) {
    case GuardGroup::shared_alone: return unless("shared");
    case GuardGroup::owned_clean: return unless("owned");
    case GuardGroup::owned_kept_clean: return word == 0 ? "owned" : word == 1 ? "!owned & kept" : "!owned & !kept";
    case GuardGroup::written_back_served: return unless("written_back");
    case GuardGroup::no_acks_acks: return unless("ak[a] + k = 0");
    case GuardGroup::last_ack_more_acks: return unless("ak[a] = 1");
    case GuardGroup::from_owner_from_other: return unless("own = s + 1");
    case GuardGroup::last_sharer_more_sharers: return unless("!exists i: aid do i != s & sh[i] end");
    case GuardGroup::sharers_no_sharers: return unless("exists i: aid do sh[i] end");
    case GuardGroup::none: break;
  }
  return "true";
}

void MurphiRows::at(int depth, const ControllerTable& table, std::size_t base_event, const MurphiPlace& place) {
  const BaseEvent& event = table.base_events[base_event];
  out_.each_state(depth, place.state, state_kind(place.role), table, [&](StateId state) {
    for (int word = 0; word < event.count; ++word) {
      const Row& found = table.row(state, static_cast<EventId>(event.first + word));
      if (event.count == 1) return row(depth + 1, table, state, found, place);
      out_.line(depth + 1, "{} {} then", word == 0 ? "if" : "elsif", guard(event.guard, word));
      row(depth + 2, table, state, found, place);
    }
    out_.line(depth + 1, "end;");
  });
}

void MurphiRows::row(int depth, const ControllerTable& table, std::size_t state, const Row& row, const MurphiPlace& place) {
  if (row.impossible) return out_.line(depth, "error \"impossible: {}\";", table.place(row.source_line));
  if (row.next != state) {
    out_.line(depth, "{} := {};", place.state, state_name(state_kind(place.role), table, row.next));
  }
  for (const Action step : row.steps()) action(depth, step, row, place);
}

void MurphiRows::action(int depth, Action action, const Row& row, const MurphiPlace& place) {
  switch (place.role) {
    case Role::agent: return agent_action(depth, action, place);
    case Role::home: return home_action(depth, action, row, place);
    case Role::bus_cache:
      if (action.verb == Verb::free) return;  // the model's clean() drops the copy
      return out_.bus_cache_action(depth, action, system_.bus, cache_of_node(place.cache), kMurphiAccess);
    case Role::bus_memory: return memory_action(depth, action, place);
  }
}

void MurphiRows::agent_action(int depth, Action action, const MurphiPlace& place) {
  const std::size_t message = action.argument - system_.subject.bus_messages;
  switch (action.verb) {
    case Verb::send_home: {
      const bool relays = system_.network.messages[message].message_class == MessageClass::relay;
      out_.line(depth, "send_{}{}(a, {}, ad[a]);", kToHome, message, relays ? place.requestor : "a + 1");
      break;
    }
    case Verb::send_requestor:
      out_.line(depth, "assert {} != 0 \"sends to nobody\";", place.requestor);
      out_.line(depth, "send_{0}{1}({2} - 1, {2}, 0, ad[a]);", kToAgent, message, place.requestor);
      break;
    case Verb::take_data:
      if (place.data == kOnBus) out_.line(depth, "assert on_bus != 0 \"no data\";");
      out_.line(depth, "ad[a] := {};", place.data);
      break;
    case Verb::save_asker: out_.line(depth, "assert aq[a] = 0 \"two that ask\"; aq[a] := {} + 1;", place.cache); break;
    case Verb::save_requestor: out_.line(depth, "ar[a] := r;"); break;
    case Verb::add_acks: out_.line(depth, "ak[a] := ak[a] + k;"); break;
    case Verb::count_ack: out_.line(depth, "ak[a] := ak[a] - 1;"); break;
    case Verb::run: out_.line(depth, "assert aq[a] != 0 \"runs nothing\"; begin_transaction(a, T_run);"); break;
    case Verb::recall:
      out_.line(depth, "begin_transaction(a, {});",
                murphi_name(kRecall, system_.bus.messages[action.argument].name, action.argument));
      break;
    case Verb::defer: out_.line(depth, "granted := false;"); break;
    case Verb::complete: out_.line(depth, "complete_access(a, w);"); break;
    case Verb::stall: out_.line(depth, "stalled := true;"); break;
    default: break;
  }
}

void MurphiRows::home_action(int depth, Action action, const Row& row, const MurphiPlace& place) {
  switch (action.verb) {
    case Verb::send_requestor: {
      out_.line(depth, "send_{}{}(r - 1, r, {}, md);", kToAgent, action.argument,
                row.does(Verb::send_sharers)  ? "others"
                : row.does(Verb::send_others) ? "AGENTS - 1"
                                              : "0");
      break;
    }
    case Verb::send_owner:
      out_.line(depth, "assert own != 0 \"no owner\"; send_{}{}(own - 1, {}, 0, md);", kToAgent, action.argument,
                place.requestor);
      break;
    case Verb::send_sharers:
      out_.line(depth, "for i: aid do if other[i] then send_{}{}(i, {}, 0, md); end; end;", kToAgent, action.argument,
                place.requestor);
      break;
    case Verb::send_others:
      out_.line(depth, "for i: aid do if i + 1 != r then send_{}{}(i, r, 0, md); end; end;", kToAgent, action.argument);
      break;
    case Verb::update_memory: out_.line(depth, "md := v;"); break;
    case Verb::set_owner: out_.line(depth, "own := r;"); break;
    case Verb::clear_owner: out_.line(depth, "own := 0;"); break;
    case Verb::add_requestor: out_.line(depth, "sh[r - 1] := true;"); break;
    case Verb::add_owner: out_.line(depth, "assert own != 0 \"no owner\"; sh[own - 1] := true;"); break;
    case Verb::remove_sender: out_.line(depth, "sh[s] := false;"); break;
    case Verb::clear_sharers: out_.line(depth, "for i: aid do sh[i] := false; end;"); break;
    case Verb::stall: out_.line(depth, "stalled := true;"); break;
    default: break;
  }
}

void MurphiRows::memory_action(int depth, Action action, const MurphiPlace& place) {
  switch (action.verb) {
    case Verb::assert_shared: out_.line(depth, "shared := true;"); break;
    case Verb::defer: out_.line(depth, "deferred := true;"); break;
    case Verb::operate: out_.line(depth, "operated := true;"); break;
    case Verb::send_data:
      out_.line(depth, "drive(on_bus, a, CACHES + 1, ad[a]);");
      out_.line(depth, "assert !supplied \"two suppliers\"; supplied := true;");
      break;
    default: agent_action(depth, action, place); break;
  }
}

}  // namespace linebounce::checker
