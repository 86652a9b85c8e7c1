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
  const std::string acks_to_expect = row.does(Verb::send_sharers) ? "count" : row.does(Verb::send_others) ? "AGENTS - 1" : "0";
  for (const Action each : row.steps()) action(depth, each, step, acks_to_expect);
}

void MurphiRows::action(int depth, Action action, const MurphiStep& step, const std::string& acks_to_expect) {
  const std::string &at = step.of.at, &members = step.of.members, &whom = step.member;
  const std::string data = at + ".data", owner = at + ".owner", sharers = at + ".sharers", itself = "CACHES + 1";
  const bool inside = system_.is_inside({.controller = step.rules.controller});
  const Way up = inside ? Way::to_group : Way::to_home, across = inside ? Way::to_member : Way::to_agent;
  const std::size_t message = step.rules.network_id(action.argument);
  const auto send_up = [&](const std::string& requestor) {
    messages_.send(depth, up, message, {.source = step.self, .requestor = requestor, .data = data});
  };
  const auto send_down = [&](const std::string& receiver, const std::string& requestor, const std::string& acks = "0") {
    messages_.send(depth, step.rules.is_directory() ? Way::to_agent : Way::to_member, message,
                   {.receiver = receiver, .requestor = requestor, .acks = acks, .data = data});
  };
  const auto send_to_all = [&](const std::string& which, const std::string& requestor) {
    out_.line(depth, "for i: {} do if {} then", members, which);
    send_down("i", requestor);
    out_.line(depth, "end; end;");
  };
  const auto known = [&](const std::string& number) { messages_.check_known(depth, number); };
  switch (action.verb) {
    case Verb::send_home: {
      const bool relays = system_.network.messages[message].message_class == MessageClass::relay;
      send_up(relays ? step.requestor : step.self);
      break;
    }
    case Verb::send_requestor:
      if (step.rules.is_directory()) return send_down(whom, whom, acks_to_expect);
      if (inside) {
        out_.line(depth, "if r = {} then", itself);
        if (messages_.goes(Way::to_group, message)) {
          send_up(step.requestor);
        } else {
          out_.line(depth, "error \"sends what a group does not take\";");
        }
        out_.line(depth, "else");
      }
      messages_.send(depth, across, message, {.receiver = step.requestor, .requestor = step.requestor, .data = data});
      if (inside) out_.line(depth, "end;");
      break;
    case Verb::send_member: send_down(whom, whom, acks_to_expect); break;
    case Verb::send_owner: send_down(owner, whom); break;
    case Verb::send_sharers: send_to_all("others[i]", whom); break;
    case Verb::send_others: send_to_all("i != " + whom, whom); break;
    case Verb::recall_owner: send_down(owner, itself); break;
    case Verb::recall_sharers:
      out_.line(depth, "for i: {0} do if {1}[i] then {2}.acks := {2}.acks + 1; end; end;", members, sharers, at);
      send_to_all(sharers + "[i]", itself);
      break;
    case Verb::take_data:
    case Verb::update_memory:
      if (step.has_data != "true") out_.line(depth, "assert {} \"no data\";", step.has_data);
      out_.line(depth, "{} := {};", data, step.data);
      break;
    case Verb::save_asker: out_.line(depth, "assert {}.member = 0 \"two that ask\";", at); [[fallthrough]];
    case Verb::save_member: out_.line(depth, "{}.member := {};", at, whom); break;
    case Verb::save_requestor: out_.line(depth, "{}.requestor := r;", at); break;
    case Verb::add_acks: out_.line(depth, "{0}.acks := {0}.acks + k;", at); break;
    case Verb::count_ack: out_.line(depth, "{0}.acks := {0}.acks - 1;", at); break;
    case Verb::set_owner:
      known(whom);
      out_.line(depth, "{} := {};", owner, whom);
      if (!step.rules.is_directory()) out_.line(depth, "clear {};", sharers);
      break;
    case Verb::clear_owner: out_.line(depth, "{} := 0;", owner); break;
    case Verb::add_requestor:
    case Verb::add_member:
      known(whom);
      out_.line(depth, "{}[{}] := true;", sharers, whom);
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
