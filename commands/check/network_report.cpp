#include "commands/check/network_report.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "commands/check/promise_names.hpp"
#include "models/coherence/checker/counterexample.hpp"
#include "models/coherence/checker/network/network_diagram.hpp"
#include "models/ordinal.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

const char* step_name(NetworkStepKind kind) {
  constexpr std::array<const char*, kNetworkStepKinds> names = {"load", "store",  "atomic",  "evict",  "order", "data",
                                                                "run",  "recall", "give_up", "arrive", "forget"};
  return names[ordinal(kind)];
}

// The protocol whose file contains the row: for a directory's row the directory's, else the protocol that is checked. For a
// node protocol these are two files.
const Protocol& protocol_of(const NetworkProtocols& protocols, Controller controller) {
  return controller == Controller::directory ? protocols.directory : subject_of(protocols);
}

ordered_json violation_json(const NetworkProtocols& protocols, const NetworkProof& proof) {
  if (!proof.violation()) return nullptr;
  const std::vector<std::string> columns = network_columns(protocols, proof.systems.back());
  const Protocol& subject = subject_of(protocols);
  const ControllerTable& table = subject.table(ControllerRules::of_agents(subject).controller);
  ordered_json steps = ordered_json::array();
  for (const ReplayedNetworkStep& shown : replay(protocols, proof.systems.back(), *proof.violation())) {
    const std::size_t to = shown.passes && shown.from == shown.first ? shown.last : shown.first;
    steps.push_back({{"step", step_name(shown.step.kind)},
                     {"from", columns[shown.from]},
                     {"to", shown.passes ? columns[to] : columns[shown.last]},
                     {"all_between", !shown.passes},
                     {"what", shown.text},
                     {"states", shown.states},
                     {"notes", shown.notes},
                     {"rows", lines_json(table, shown.rows)}});
  }
  return {{"promise", kPromiseNames[ordinal(proof.violation()->property)].name},
          {"text", proof.violation()->text},
          {"columns", columns},
          {"start", network_start_states(protocols, proof.systems.back())},
          {"steps", std::move(steps)}};
}

// Proofs about groups have other parameters, so their JSON differs from that of other proofs.
ordered_json group_proof_json(const NetworkProtocols& protocols, const NetworkProof& proof) {
  const Protocol& group = *protocols.group;
  ordered_json systems = ordered_json::array(), unreached = ordered_json::array();
  for (std::size_t i = 0; i < proof.systems.size(); ++i) {
    const NetworkCheckOptions& options = proof.systems[i];
    const NetworkCheckResult& result = proof.results[i];
    ordered_json system = {{"groups", options.agents}, {"caches", options.caches}, {"symmetry", options.symmetry},
                           {"states", result.states},  {"steps", result.steps},    {"depth", result.depth},
                           {"violation", nullptr}};
    if (result.violation)
      system["violation"] = {{"promise", property_text(result.violation->property)}, {"text", result.violation->text}};
    if (options.last_caches > 0) system["last_caches"] = options.last_caches;
    systems.push_back(std::move(system));
  }
  for (const UnreachedRow& row : proof.unreached) {
    unreached.push_back(fmt::format("{}: state {}, event {}", group.group.place(row.source_line),
                                    group.group.states[row.state].name, group.group.events[row.event]));
  }
  return {{"protocol", group.name},
          {"title", group.title},
          {"proved", proof.proved(protocols)},
          {"systems", std::move(systems)},
          {"unreached_rows", std::move(unreached)}};
}

ordered_json system_json(const NetworkProtocols& protocols, const NetworkCheckOptions& options,
                         const NetworkCheckResult& result) {
  ordered_json out = ordered_json::object();
  if (protocols.node) out["nodes"] = options.agents;
  out["caches"] = protocols.node ? options.caches : options.agents;
  out["states"] = result.states;
  out["steps"] = result.steps;
  out["depth"] = result.depth;
  out["most_forwards_waiting"] = result.most_forwards;
  out["most_messages_under_way"] = result.most_messages;
  return out;
}

std::string system_text(const NetworkProtocols& protocols, const NetworkCheckOptions& options) {
  const auto several = [](int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); };
  if (protocols.group) {
    return fmt::format("{} of {}{}, and a directory", several(options.agents, "group"), several(options.caches, "cache"),
                       options.last_caches > 0 ? fmt::format(" (the last of {})", options.last_caches) : "");
  }
  if (!protocols.node) return several(options.agents, "cache") + " and a directory";
  return fmt::format("{} with {} each on a bus, and a directory", several(options.agents, "node"),
                     several(options.caches, "cache"));
}

std::string unreached_text(const NetworkProtocols& protocols, const NetworkProof& proof, const Painter& paint) {
  if (proof.unreached.empty()) return "";
  if (!proof.all_rows_can_run(protocols)) {
    return fmt::format("\n  {} rows can't run in so small a system; without --caches{} all of a correct protocol run.\n",
                       proof.unreached.size(), protocols.node || protocols.group ? " and --nodes" : "");
  }
  std::string out = "\n  " + paint(Colour::red, "Never run:") + "\n";
  for (const UnreachedRow& row : proof.unreached) {
    const Protocol& protocol = protocol_of(protocols, row.controller);
    const ControllerTable& table = protocol.table(row.controller);
    out += fmt::format("    {}: {}: state {}, event {}\n", table.place(row.source_line), table.name,
                       table.states[row.state].name, table.events[row.event]);
  }
  return out;
}

}  // namespace

ordered_json line_json(const ControllerTable& table, int source_line) {
  return table.inherits(source_line) ? ordered_json(table.place(source_line)) : ordered_json(source_line);
}

ordered_json lines_json(const ControllerTable& table, const std::vector<std::vector<int>>& rows) {
  ordered_json out = ordered_json::array();
  for (const std::vector<int>& column : rows) {
    out.push_back(ordered_json::array());
    for (const int line : column) out.back().push_back(line_json(table, line));
  }
  return out;
}

ordered_json proof_json(const NetworkProtocols& protocols, const NetworkProof& proof) {
  if (protocols.group) return group_proof_json(protocols, proof);
  const Protocol& subject = subject_of(protocols);
  ordered_json checked = ordered_json::array(), unreached = ordered_json::array(), systems = ordered_json::array();
  for (const PromiseName& entry : kPromiseNames) {
    if (claims(protocols, entry.property)) checked.push_back(entry.name);
  }
  for (const UnreachedRow& row : proof.unreached) {
    const Protocol& protocol = protocol_of(protocols, row.controller);
    const ControllerTable& table = protocol.table(row.controller);
    unreached.push_back({{"protocol", protocol.name},
                         {"controller", table.name},
                         {"state", table.states[row.state].name},
                         {"event", table.events[row.event]},
                         {"line", line_json(table, row.source_line)}});
  }
  for (std::size_t i = 0; i < proof.systems.size(); ++i) {
    systems.push_back(system_json(protocols, proof.systems[i], proof.results[i]));
  }
  return {{"protocol", subject.name},
          {"title", subject.title},
          {"symmetry", proof.systems.front().symmetry},
          {"proved", proof.proved(protocols)},
          {"promises", std::move(checked)},
          {"systems", std::move(systems)},
          {"unreached_rows", std::move(unreached)},
          {"violation", violation_json(protocols, proof)}};
}

std::string proof_page(const NetworkProtocols& protocols, const NetworkProof& proof, const Painter& paint) {
  const Protocol& subject = subject_of(protocols);
  std::string out = paint(Colour::bold, subject.name) + "  " + subject.title + "\n\n";
  if (proof.violation()) return out + message_diagram(protocols, proof.systems.back(), *proof.violation());
  if (protocols.node) {
    out += fmt::format("  with {} on the bus of each node and {} at the home\n", protocols.bus->name, protocols.directory.name);
  }
  for (std::size_t i = 0; i < proof.systems.size(); ++i) {
    const NetworkCheckResult& result = proof.results[i];
    out += fmt::format("  {}: {} states, {} steps, {} deep; at most {} forwards wait for one, {} messages are under way\n",
                       system_text(protocols, proof.systems[i]), result.states, result.steps, result.depth,
                       result.most_forwards, result.most_messages);
  }
  out += fmt::format("  one line, values 0 and 1{}\n\n",
                     proof.systems.front().symmetry ? "; states counted up to renaming of nodes, caches and values" : "");
  for (const PromiseName& entry : kPromiseNames) {
    if (claims(protocols, entry.property)) {
      out += "  " + paint(Colour::green, "proved") + "  " + property_text(entry.property) + "\n";
    }
  }
  if (proof.unreached.empty()) out += "  " + paint(Colour::green, "proved") + "  every row runs\n";
  return out + unreached_text(protocols, proof, paint);
}

}  // namespace linebounce::sim
