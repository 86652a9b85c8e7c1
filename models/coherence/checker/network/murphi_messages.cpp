#include "models/coherence/checker/network/murphi_messages.hpp"

#include <array>

namespace linebounce::checker {

bool MurphiMessages::goes(Way way, std::size_t message) const {
  if (is_inside(way) && !system_.has_groups) return false;
  const ControllerRules& rules = way == Way::to_home     ? system_.home_rules
                                 : way == Way::to_member ? system_.member_rules
                                                         : system_.agent_rules;
  const Side side = way == Way::to_home || way == Way::to_group ? Side::member : Side::outside;
  return !rules.table->base_events[rules.event_of(side, static_cast<MessageId>(message))].absent;
}

std::string MurphiMessages::name(Way way, std::size_t message) const {
  constexpr std::array<std::string_view, kWays> kReceivers = {"home", "agent", "group", "member"};
  return murphi_name(kReceivers[ordinal(way)], system_.network.messages[message].name, message);
}

MurphiVariables MurphiMessages::receiver(Way way) {
  MurphiVariables selected_by;
  if (way != Way::to_home) selected_by.push_back({"a", "aid"});
  if (way == Way::to_member) selected_by.push_back({"c", "cid"});
  return selected_by;
}

MurphiVariables MurphiMessages::parts(Way way, std::size_t message) const {
  const MessageUse& use = system_.use(way, message);
  MurphiVariables found = receiver(way);
  if (use.source) found.push_back({"s", is_inside(way) ? "cid" : "aid"});
  if (use.requestor) found.push_back({"r", is_inside(way) ? "requestor" : "aid"});
  if (use.acks) found.push_back({"k", "nack"});
  if (carries(way, message)) found.push_back({"v", "val"});
  return found;
}

std::string MurphiMessages::queue(Way way) {
  return way == Way::to_agent ? "agents[a].forwards" : "agents[a].caches[c].forwards";
}

void MurphiMessages::types() {
  std::vector<std::string> kinds = {"F_none"};
  for_each([&](Way way, std::size_t message) {
    if (queued(way, message)) kinds.push_back("F_" + name(way, message));
  });
  out_.line(1, "forward_kind: enum {{ {} }};", fmt::join(kinds, ", "));
  out_.line(1, "forward: record kind: forward_kind; r: {}; k: nack; v: val; end;", system_.has_groups ? "0..MOST" : "any_aid");
  out_.line(1, "queue: record n: 0..QUEUE; at: array[0..QUEUE - 1] of forward; end;");
}

void MurphiMessages::variable() {
  out_.line(1, "messages: record  -- how many of each are under way");
  for_each([&](Way way, std::size_t message) {
    if (queued(way, message)) return;
    std::string type;
    for (const MurphiVariable& part : parts(way, message)) type += fmt::format("array[{}] of ", part.type);
    out_.line(2, "{}: {}0..MOST;", name(way, message), type);
  });
  out_.line(1, "end;");
}

void MurphiMessages::procedures() {
  out_.line(0, "procedure push(var q: queue; f: forward); begin");
  out_.line(1, "assert q.n < QUEUE \"more forwards than the model has room for\"; q.at[q.n] := f; q.n := q.n + 1;");
  out_.line(0, "end;\n");
  out_.line(0, "procedure pop(var q: queue); begin");
  out_.line(1, "for i := 0 to QUEUE - 2 do q.at[i] := q.at[i + 1]; end; clear q.at[QUEUE - 1]; q.n := q.n - 1;");
  out_.line(0, "end;\n");
  for_each([&](Way way, std::size_t message) {
    const MurphiVariables all = parts(way, message);
    const std::string title = name(way, message);
    out_.line(0, "procedure send_{}({});{} begin", title, declared(all), queued(way, message) ? " var f: forward;" : "");
    if (queued(way, message)) {
      out_.line(1, "clear f; f.kind := F_{};", title);
      for (std::size_t i = receiver(way).size(); i < all.size(); ++i) out_.line(1, "f.{0} := {0};", all[i].name);
      out_.line(1, "push({}, f);", queue(way));
    } else {
      out_.line(1, "assert {0} < MOST \"more messages than the model has room for\"; {0} := {0} + 1;", counter(way, message));
    }
    out_.line(0, "end;\n");
  });
}

void MurphiMessages::check_known(int depth, const std::string& number) {
  const bool saved = number == "0" || number.find('.') != std::string::npos;
  if (saved) out_.line(depth, "assert {} != 0 \"names nobody\";", number);
}

void MurphiMessages::send(int depth, Way way, std::size_t message, const MurphiMessage& sent) {
  const MessageUse& use = system_.use(way, message);
  std::vector<std::string> arguments;
  if (is_inside(way)) arguments.emplace_back("a");
  if (!sent.receiver.empty()) arguments.push_back(sent.receiver);
  if (use.source) arguments.push_back(sent.source);
  if (use.requestor) arguments.push_back(sent.requestor);
  if (use.acks) arguments.push_back(sent.acks);
  if (carries(way, message)) arguments.push_back(sent.data);
  check_known(depth, sent.receiver);
  if (use.requestor && sent.requestor != sent.receiver) check_known(depth, sent.requestor);
  out_.line(depth, "send_{}({});", name(way, message), fmt::join(arguments, ", "));
}

void MurphiMessages::arrival_rule(Way way, std::size_t message, bool writes) {
  const bool waits_in_queue = queued(way, message);
  const MurphiVariables all = parts(way, message);
  MurphiVariables variables = waits_in_queue ? receiver(way) : all;
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool in_queue = waits_in_queue && i >= variables.size();
    arguments.push_back(in_queue ? fmt::format("{}.at[0].{}", queue(way), all[i].name) : all[i].name);
  }
  if (writes) {
    variables.push_back({"w", "val"});
    arguments.emplace_back("w");
  }
  arguments.emplace_back("stalled");
  const std::string title = name(way, message), count = counter(way, message);
  if (!variables.empty()) out_.line(0, "ruleset {} do", declared(variables));
  out_.line(1, "rule \"{} arrives\" {} ==> var stalled: boolean; begin", title,
            waits_in_queue ? fmt::format("{0}.n > 0 & {0}.at[0].kind = F_{1}", queue(way), title) : count + " > 0");
  out_.line(2, "stalled := false; take_{}({});", title, fmt::join(arguments, ", "));
  out_.line(2, "if !stalled then {}; end; clean();",
            waits_in_queue ? fmt::format("pop({})", queue(way)) : fmt::format("{0} := {0} - 1", count));
  out_.line(1, "end;");
  if (!variables.empty()) out_.line(0, "end;");
}

void MurphiMessages::none_under_way() {
  for_each([&](Way way, std::size_t message) {
    if (!queued(way, message)) out_.line(1, "& ({})", for_all(parts(way, message), counter(way, message) + " = 0"));
  });
}

}  // namespace linebounce::checker
