#include <fmt/format.h>

#include <array>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands/check/check_random.hpp"
#include "commands/check/network_report.hpp"
#include "commands/check/promise_names.hpp"
#include "commands/common/command.hpp"
#include "models/coherence/checker/check_protocol.hpp"
#include "models/coherence/checker/counterexample.hpp"
#include "models/coherence/checker/murphi.hpp"
#include "models/coherence/checker/network/network_murphi.hpp"
#include "models/coherence/checker/network/prove_network.hpp"
#include "models/ordinal.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr const char* kCheckFooter =
    R"(The check visits every state that a small system can reach with one line, using the same code as the simulator: a few caches on
one bus; caches and a directory; or nodes, each with a bus and a controller, and a directory. It proves what the file declares
(swmr, data_value) and, for every protocol, that nothing impossible happens, that data has one supplier and arrives, that there is
no deadlock, that every request can finish, and that every row runs. A broken promise is shown with a shortest sequence of messages
that breaks it.

A node controller is checked in two systems, because neither shows every bug: 2 nodes of 2 caches, and 3 nodes of 1. --nodes and
--caches choose one system instead. The network keeps forwards from one home to one node about one line in order, and guarantees
nothing else. A group is checked with caches as members: 2 groups of 2 caches, which takes half a minute, and 3 groups of 1. If some
rows never run in these, a group of 3 and a group of 1 are checked, too. --nodes sets the number of groups, --caches the caches of
each.

One line is enough: no row looks at another line, and a waiting message blocks only messages about its own line, so every state of
two lines is a pair of states of one. (A machine that queued the forwards of all lines together could deadlock; no machine here
does.)

Examples:
  linebounce check mesi_snoop
  linebounce check mesi_directory --caches 4
  linebounce check mesi_node --nodes 2 --caches 1
  linebounce check mesi_node --bus mesi_migratory_snoop
  linebounce check my_protocol.md --caches 2
  linebounce check moesi_snoop --murphi moesi.m --liveness        the same model for Murphi, to be verified by others:
  rumur moesi.m -o moesi.c && cc -O2 -march=native moesi.c -o moesi -lpthread && ./moesi

Exit codes: 0 proved; 1 a promise is broken, or a row never runs; 2 the file is not a protocol, or the
check needs more memory than allowed.)";

struct CheckArguments {
  std::string protocol;
  std::string bus;  // the bus protocol to combine with a node protocol; empty: the one named in the node protocol's file
  std::optional<int> nodes, caches;
  bool all_states = false;  // --no-symmetry
  std::string murphi;
  bool liveness = false;
  bool json = false;
};

MurphiReader reader_of(const CheckArguments& arguments) {
  return arguments.liveness ? MurphiReader::rumur : MurphiReader::any;
}

const char* step_name(StepKind kind) {
  constexpr std::array names = {"load", "store", "atomic", "evict", "order", "data"};
  return names[ordinal(kind)];
}

ordered_json step_json(const Protocol& protocol, const ReplayedStep& shown) {
  ordered_json out = {{"step", step_name(shown.step.kind)}, {"cache", shown.step.cache}};
  if (shown.step.kind == StepKind::store || shown.step.kind == StepKind::atomic) out["value"] = shown.step.value;
  if (shown.message) out["message"] = protocol.messages[*shown.message].name;
  if (shown.supplier != kNobody) {
    out["from"] = shown.supplier == kMemory ? static_cast<int>(shown.states.size()) - 1 : shown.supplier;
    out["data"] = shown.data;
  }
  out["states"] = shown.states;
  out["values"] = shown.values;
  out["notes"] = shown.notes;
  out["rows"] = lines_json(protocol.cache, shown.rows);
  return out;
}

ordered_json violation_json(const Protocol& protocol, const CheckOptions& options, const CheckResult& result) {
  if (!result.violation) return nullptr;
  ordered_json steps = ordered_json::array();
  for (const ReplayedStep& shown : replay(protocol, options, *result.violation)) steps.push_back(step_json(protocol, shown));
  return {{"promise", kPromiseNames[ordinal(result.violation->property)].name},
          {"text", result.violation->text},
          {"start", start_states(protocol, options.caches)},
          {"steps", std::move(steps)}};
}

ordered_json result_json(const Protocol& protocol, const CheckOptions& options, const CheckResult& result) {
  ordered_json checked = ordered_json::array();
  for (const PromiseName& entry : kPromiseNames) {
    if (claims(protocol, entry.property)) checked.push_back(entry.name);
  }
  ordered_json unreached = ordered_json::array();
  for (const UnreachedRow& row : result.unreached) {
    const ControllerTable& table = protocol.table(row.controller);
    unreached.push_back({{"controller", table.name},
                         {"state", table.states[row.state].name},
                         {"event", table.events[row.event]},
                         {"line", line_json(table, row.source_line)}});
  }
  return {{"protocol", protocol.name},
          {"title", protocol.title},
          {"caches", options.caches},
          {"symmetry", options.symmetry},
          {"proved", result.proved(options)},
          {"promises", std::move(checked)},
          {"states", result.states},
          {"steps", result.steps},
          {"depth", result.depth},
          {"unreached_rows", std::move(unreached)},
          {"violation", violation_json(protocol, options, result)}};
}

std::string unreached_text(const Protocol& protocol, const CheckOptions& options, const CheckResult& result,
                           const Painter& paint) {
  if (result.violation || result.unreached.empty()) return "";
  if (options.caches < kCachesForAllRows) {
    return fmt::format("\n  {} rows can't run with so few caches; --caches {} runs all of a correct protocol.\n",
                       result.unreached.size(), kCachesForAllRows);
  }
  std::string out = "\n  " + paint(Colour::red, "Never run:") + "\n";
  for (const UnreachedRow& row : result.unreached) {
    const ControllerTable& table = protocol.table(row.controller);
    out += fmt::format("    {}: {}: state {}, event {}\n", table.place(row.source_line), table.name,
                       table.states[row.state].name, table.events[row.event]);
  }
  return out;
}

std::string result_page(const Protocol& protocol, const CheckOptions& options, const CheckResult& result,
                        const Painter& paint) {
  std::string out = paint(Colour::bold, protocol.name) + "  " + protocol.title + "\n\n";
  if (result.violation) return out + message_diagram(protocol, options, *result.violation);
  out += paragraph(fmt::format("{} on one bus, one line, values 0 and 1{}", plural(options.caches, "cache"),
                               options.symmetry ? ", states counted up to renaming of the caches" : ""),
                   2, Colour::none, paint);
  out += fmt::format("  {} states, {} steps, {} deep\n\n", result.states, result.steps, result.depth);
  for (const PromiseName& entry : kPromiseNames) {
    if (claims(protocol, entry.property))
      out += "  " + paint(Colour::green, "proved") + "  " + property_text(entry.property) + "\n";
  }
  if (result.unreached.empty()) out += "  " + paint(Colour::green, "proved") + "  every row runs\n";
  return out + unreached_text(protocol, options, result, paint);
}

// Returns `found` if it is from 1 to `most`; otherwise throws an error that gives the option's legal values.
int in_range(const char* option, int found, int most, const Protocol& protocol) {
  if (found >= 1 && found <= most) return found;
  throw ConfigError(fmt::format("{}: {} is out of range; legal for {}: 1 to {}", option, found, protocol.name, most));
}

ExitCode check_bus(const Protocol& protocol, const CheckArguments& arguments) {
  if (arguments.nodes)
    throw ConfigError(fmt::format("--nodes: {} is the protocol of a bus, which has no nodes; give --caches", protocol.name));
  CheckOptions options;
  options.symmetry = !arguments.all_states;
  if (arguments.caches) options.caches = in_range("--caches", *arguments.caches, kMaxCheckedCaches, protocol);
  if (!arguments.murphi.empty()) write_file(arguments.murphi, murphi_model(protocol, options.caches, reader_of(arguments)));
  const CheckResult result = check_protocol(protocol, options);
  if (arguments.json) {
    std::cout << result_json(protocol, options, result).dump(1) << "\n";
  } else {
    std::cout << result_page(protocol, options, result, painter_for_stdout());
  }
  return result.proved(options) ? ExitCode::done : ExitCode::check_failed;
}

NetworkProtocols with_partners(const Protocol& protocol, const CheckArguments& arguments) {
  if (protocol.kind == ProtocolKind::directory && protocol.cache.states.empty()) {
    throw ConfigError(fmt::format(
        "{}: has no caches of its own on the network; check the protocol of a node controller that names it", protocol.name));
  }
  if (protocol.kind == ProtocolKind::directory) return {.directory = protocol};
  const Protocol directory = load_protocol(protocol.directory_partner);
  if (protocol.kind == ProtocolKind::group) {
    if (!directory.cache.states.empty()) return {.directory = directory, .group = protocol};
    throw ConfigError(fmt::format("{}: {} has no caches of its own, which could be a group's members", protocol.name,
                                  protocol.directory_partner));
  }
  if (arguments.bus.empty()) return {directory, protocol, load_protocol(protocol.bus_partner)};
  const Protocol bus = load_protocol(arguments.bus, "--bus");
  if (bus.kind != ProtocolKind::bus) throw ConfigError(fmt::format("--bus: {} is not a protocol of a bus", bus.name));
  return {directory, load_node_protocol(arguments.protocol, bus, directory), bus};
}

std::vector<NetworkCheckOptions> systems_of(const NetworkProtocols& protocols, const CheckArguments& arguments) {
  const Protocol& subject = subject_of(protocols);
  std::vector<NetworkCheckOptions> systems = default_systems(protocols);
  if (arguments.nodes || arguments.caches) systems.resize(1);
  NetworkCheckOptions& chosen = systems.front();
  if (protocols.node || protocols.group) {
    const int most_agents = protocols.node ? kMaxCheckedAgents : kMaxCheckedGroups;
    const int most_caches = protocols.node ? kMaxCheckedNodeCaches : kMaxCheckedMembers;
    if (arguments.nodes) chosen.agents = in_range("--nodes", *arguments.nodes, most_agents, subject);
    if (arguments.caches) chosen.caches = in_range("--caches", *arguments.caches, most_caches, subject);
  } else {
    if (arguments.nodes) throw ConfigError(fmt::format("--nodes: {} has caches but no nodes; give --caches", subject.name));
    if (arguments.caches) chosen.agents = in_range("--caches", *arguments.caches, kMaxCheckedAgents, subject);
  }
  for (NetworkCheckOptions& system : systems) system.symmetry = !arguments.all_states;
  return systems;
}

ExitCode check_on_network(const Protocol& protocol, const CheckArguments& arguments) {
  const NetworkProtocols protocols = with_partners(protocol, arguments);
  const std::vector<NetworkCheckOptions> systems = systems_of(protocols, arguments);
  if (!arguments.murphi.empty()) write_file(arguments.murphi, murphi_model(protocols, systems.front(), reader_of(arguments)));
  const NetworkProof proof = prove_network(protocols, systems);
  if (arguments.json) {
    std::cout << proof_json(protocols, proof).dump(1) << "\n";
  } else {
    std::cout << proof_page(protocols, proof, painter_for_stdout());
  }
  return proof.proved(protocols) ? ExitCode::done : ExitCode::check_failed;
}

// Refuses a Murphi model (NAME.m): `check --murphi` writes such files but can't read them.
void refuse_murphi(const std::string& protocol) {
  if (!protocol.ends_with(".m")) return;
  throw ConfigError(
      fmt::format("{}: is Murphi's language, by its name: check reads protocols as tables (NAME.md), and writes Murphi with "
                  "--murphi FILE.m; "
                  "rumur verifies what it wrote",
                  protocol));
}

ExitCode check(const CheckArguments& arguments) {
  refuse_murphi(arguments.protocol);
  const Protocol protocol = load_protocol(arguments.protocol);
  if (!arguments.bus.empty() && protocol.kind != ProtocolKind::node)
    throw ConfigError(
        fmt::format("--bus: {} is not a protocol of a node controller; only for those --bus chooses the bus", protocol.name));
  try {
    return protocol.kind == ProtocolKind::bus ? check_bus(protocol, arguments) : check_on_network(protocol, arguments);
  } catch (const CheckTooLarge& error) {
    throw ConfigError(error.what());
  }
}

}  // namespace

void add_check(Command& program) {
  const auto arguments = std::make_shared<CheckArguments>();
  Command command = program.subcommand("check", "Prove a coherence protocol, or show how it breaks", HelpGroup::checks);
  command.option("PROTOCOL", "", &arguments->protocol, "A name (see: linebounce list protocols), or a file NAME.md");
  command
      .option("--caches", "N", &arguments->caches,
              "Number of caches, in each node for a node controller; default: 3, in nodes 2")
      .excludes({"--random"});
  command
      .option("--nodes", "N", &arguments->nodes,
              "Number of nodes, for a node controller; default: 2, then 3 with one cache each")
      .excludes({"--random"});
  command
      .option("--bus", "PROTOCOL", &arguments->bus,
              "For a node controller: its caches' protocol; default: the one that its file names")
      .excludes({"--random"});
  command.flag("--no-symmetry", arguments->all_states, "Also distinguish states that differ only in names")
      .excludes({"--random"});
  command.option("--murphi", "FILE", &arguments->murphi, "Also write the model for Murphi's checkers to this file")
      .excludes({"--random"})
      .output_file("a model for Murphi", {".m"});
  command
      .flag("--liveness", arguments->liveness,
            "In this model, also state that every request can finish, a property that only rumur reads")
      .belongs_to({"--murphi"});
  command.flag("--json", arguments->json, "Print one JSON document");
  const auto random = add_random_options(command);
  command.footer(std::string(kCheckFooter) + "\n" + kRandomFooter);
  command.action([arguments, random] {
    if (!random->wanted(arguments->protocol)) return check(*arguments);
    random->json = arguments->json;
    return check_random(*random);
  });
}

}  // namespace linebounce::sim
