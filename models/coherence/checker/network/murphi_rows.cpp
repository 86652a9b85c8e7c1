#include "models/coherence/checker/network/murphi_rows.hpp"

namespace linebounce::checker {

MurphiRows::MurphiRows(const CheckedSystem& system, MurphiMessages& messages, MurphiWriter& out)
    : home{"home", "H", &system.directory(), {}, "aid"},
      agent{"agents[a]", "A", &system.agent(), {{"a", "aid"}}, "cid"},
      member{"agents[a].caches[c]", "C", &system.cache(), {{"a", "aid"}, {"c", "cid"}}},
      system_(system),
      messages_(messages),
      out_(out) {}

MurphiStep MurphiRows::agent_step() const {
  MurphiStep step{.rules = system_.agent_rules, .of = agent, .self = "a"};
  if (system_.has_nodes || system_.has_groups) {
    step.requestor = "agents[a].requestor";
    step.member = "agents[a].member";
  }
  return step;
}

std::string MurphiRows::transaction(std::size_t message) const {
  return murphi_name("T", system_.bus.messages[message].name, message);
}

bool MurphiRows::tells_sharers(const ControllerTable& table, std::size_t base_event) {
  const BaseEvent& event = table.base_events[base_event];
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    for (int word = 0; word < event.count; ++word) {
      if (table.row(static_cast<StateId>(state), static_cast<EventId>(event.first + word)).does(Verb::send_sharers)) return true;
    }
  }
  return false;
}

void MurphiRows::arrival_procedure(Way way, std::size_t message) {
  MurphiStep step = way == Way::to_home     ? MurphiStep{.rules = system_.home_rules, .of = home}
                    : way == Way::to_member ? MurphiStep{.rules = system_.member_rules, .of = member, .self = "c"}
                                            : agent_step();
  const Message& kind = system_.network.messages[message];
  const bool outside = way == Way::to_agent || way == Way::to_member;
  if (outside) {
    step.requestor = "r";
  } else {
    step.member = kind.message_class == MessageClass::relay ? "r" : "s";
  }
  step.data = kind.carries_data ? "v" : "0";
  step.has_data = kind.carries_data ? "true" : "false";
  MurphiVariables parameters = messages_.parts(way, message);
  if (step.rules.controller == Controller::cache) parameters.push_back({"w", "val"});
  parameters.push_back({"var stalled", "boolean"});
  procedure("take_" + messages_.name(way, message), parameters, step,
            step.rules.event_of(outside ? Side::outside : Side::member, static_cast<MessageId>(message)),
            [&](int depth, const Row& row) {
              if (row.stalls()) out_.line(depth, "stalled := true;");
            });
}

void MurphiRows::actions(int depth, const Row& row, const MurphiStep& step) {
  const std::string acks_to_expect = row.does(Verb::send_sharers)  ? "count"
                                     : row.does(Verb::send_others) ? "AGENTS - 1"
                                                                   : "0";
  for (const Action each : row.steps()) action(depth, each, step, acks_to_expect);
}

void MurphiRows::send_all(int depth, const std::string& which, Way way, std::size_t message, const MurphiMessage& sent,
                          const MurphiStep& step) {
  out_.line(depth, "for i: {} do if {} then", step.of.members, which);
  messages_.send(depth + 1, way, message, sent);
  out_.line(depth, "end; end;");
}

void MurphiRows::action(int depth, Action action, const MurphiStep& step, const std::string& acks_to_expect) {
  const std::string& at = step.of.at;
  const std::string data = at + ".data", owner = at + ".owner", sharers = at + ".sharers";
  const bool inside = system_.is_inside({.controller = step.rules.controller});
  const Way up = inside ? Way::to_group : Way::to_home, across = inside ? Way::to_member : Way::to_agent;
  const Way down = step.rules.is_directory() ? Way::to_agent : Way::to_member;
  const std::size_t message = step.rules.network_id(action.argument);
  const auto down_to = [&](std::string receiver) {
    return MurphiMessage{.receiver = std::move(receiver), .requestor = step.member, .data = data};
  };
  const auto known = [&](const std::string& number) { messages_.check_known(depth, number); };
  switch (action.verb) {
    case Verb::send_home: {
      const bool relays = system_.network.messages[message].message_class == MessageClass::relay;
      messages_.send(depth, up, message, {.source = step.self, .requestor = relays ? step.requestor : step.self, .data = data});
      break;
    }
    case Verb::send_requestor:
    case Verb::send_member: {
      if (step.rules.is_directory() || action.verb == Verb::send_member) {
        MurphiMessage answer = down_to(step.member);
        answer.acks = acks_to_expect;
        messages_.send(depth, down, message, answer);
        break;
      }
      if (inside) {
        out_.line(depth, "if r = {} then", kMurphiGroupItself);
        if (messages_.goes(Way::to_group, message)) {
          messages_.send(depth + 1, up, message, {.source = step.self, .requestor = step.requestor, .data = data});
        } else {
          out_.line(depth + 1, "error \"sends what a group does not take\";");
        }
        out_.line(depth, "else");
      }
      messages_.send(depth, across, message, {.receiver = step.requestor, .requestor = step.requestor, .data = data});
      if (inside) out_.line(depth, "end;");
      break;
    }
    case Verb::send_owner: messages_.send(depth, down, message, down_to(owner)); break;
    case Verb::send_sharers: send_all(depth, "others[i]", down, message, down_to("i"), step); break;
    case Verb::send_others: send_all(depth, "i != " + step.member, down, message, down_to("i"), step); break;
    case Verb::recall_owner:
      messages_.send(depth, down, message, {.receiver = owner, .requestor = std::string(kMurphiGroupItself), .data = data});
      break;
    case Verb::recall_sharers:
      out_.line(depth, "for i: {0} do if {1}[i] then {2}.acks := {2}.acks + 1; end; end;", step.of.members, sharers, at);
      send_all(depth, sharers + "[i]", down, message,
               {.receiver = "i", .requestor = std::string(kMurphiGroupItself), .data = data}, step);
      break;
    case Verb::take_data:
    case Verb::update_memory:
      if (step.has_data != "true") out_.line(depth, "assert {} \"no data\";", step.has_data);
      out_.line(depth, "{} := {};", data, step.data);
      break;
    case Verb::save_asker:
      out_.line(depth, "assert {}.member = 0 \"two that ask\";", at);
      [[fallthrough]];
    case Verb::save_member: out_.line(depth, "{}.member := {};", at, step.member); break;
    case Verb::save_requestor: out_.line(depth, "{}.requestor := r;", at); break;
    case Verb::add_acks: out_.line(depth, "{0}.acks := {0}.acks + k;", at); break;
    case Verb::count_ack: out_.line(depth, "{0}.acks := {0}.acks - 1;", at); break;
    case Verb::set_owner:
      known(step.member);
      out_.line(depth, "{} := {};", owner, step.member);
      if (!step.rules.is_directory()) out_.line(depth, "clear {};", sharers);
      break;
    case Verb::clear_owner: out_.line(depth, "{} := 0;", owner); break;
    case Verb::add_requestor:
    case Verb::add_member:
      known(step.member);
      out_.line(depth, "{}[{}] := true;", sharers, step.member);
      break;
    case Verb::add_owner:
      known(owner);
      out_.line(depth, "{}[{}] := true;", sharers, owner);
      break;
    case Verb::remove_sender: out_.line(depth, "{}[s] := false;", sharers); break;
    case Verb::clear_sharers: out_.line(depth, "clear {};", sharers); break;
    case Verb::run:
      known(at + ".member");
      out_.line(depth, "begin_transaction(a, T_run);");
      break;
    case Verb::recall: out_.line(depth, "begin_transaction(a, {});", transaction(action.argument)); break;
    case Verb::complete: out_.line(depth, "complete_access({}, w);", listed(step.of.selected_by)); break;
    default: break;  // the callers write `hit`, `stall` and `defer`; clean() does what `free` does
  }
}

}  // namespace linebounce::checker
