#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/coherence/checker/check_protocol.hpp"
#include "models/coherence/checker/counterexample.hpp"
#include "models/coherence/checker/murphi.hpp"
#include "sim/commands/check_random.hpp"
#include "sim/commands/commands.hpp"
#include "sim/commands/terminal.hpp"
#include "sim/config/config_error.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/results/files.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce {
namespace {

using nlohmann::ordered_json;

constexpr const char* kFooter = R"(
Every state that a few caches on one bus can reach with one line is visited, by the very code that the
simulator runs. Proved is what the file declares (swmr, data_value) and, for every protocol: nothing
impossible happens, data has one supplier and arrives, no deadlock, every request can finish, every row runs.
What breaks a promise is shown as the shortest sequence of messages that does.

Examples:
  linebounce check mesi_snoop
  linebounce check my_protocol.md --caches 2
  linebounce check moesi_snoop --murphi moesi.m        the same model for Murphi, to be verified by others:
  rumur moesi.m -o moesi.c && cc -O2 -march=native moesi.c -o moesi -lpthread && ./moesi

Exit codes: 0 proved; 1 a promise is broken, or a row never runs; 2 the file is no protocol, or the check
needs more memory than it may use.)";

struct CheckArguments {
  std::string protocol;
  CheckOptions options;
  bool all_states = false;  // --no-symmetry
  std::string murphi;
  bool json = false;
};

struct PromiseName {
  Promise promise;
  const char* name;  // in JSON; the first two as in protocol files
};
constexpr std::array<PromiseName, kPromises> kPromiseNames = {{
    {Promise::single_writer, "swmr"},
    {Promise::data_value, "data_value"},
    {Promise::impossible_pair, "impossible_pair"},
    {Promise::one_supplier, "one_supplier"},
    {Promise::data_arrives, "data_arrives"},
    {Promise::accounted, "accounted"},
    {Promise::no_deadlock, "no_deadlock"},
    {Promise::can_finish, "can_finish"},
}};

const char* step_name(StepKind kind) {
  constexpr std::array names = {"load", "store", "evict", "order", "data"};
  return names[static_cast<std::size_t>(kind)];
}

ordered_json step_json(const Protocol& protocol, const ReplayedStep& shown) {
  ordered_json out = {{"step", step_name(shown.step.kind)}, {"cache", shown.step.cache}};
  if (shown.step.kind == StepKind::store) out["value"] = shown.step.value;
  if (shown.message) out["message"] = protocol.messages[*shown.message].name;
  out["states"] = shown.states;
  return out;
}

ordered_json violation_json(const Protocol& protocol, const CheckOptions& options, const CheckResult& result) {
  if (!result.violation) return nullptr;
  ordered_json steps = ordered_json::array();
  for (const ReplayedStep& shown : replay(protocol, options, *result.violation)) steps.push_back(step_json(protocol, shown));
  return {{"promise", kPromiseNames[static_cast<std::size_t>(result.violation->promise)].name},
          {"text", result.violation->text},
          {"steps", std::move(steps)}};
}

ordered_json result_json(const Protocol& protocol, const CheckOptions& options, const CheckResult& result) {
  ordered_json checked = ordered_json::array();
  for (const PromiseName& entry : kPromiseNames) {
    if (promises(protocol, entry.promise)) checked.push_back(entry.name);
  }
  ordered_json unreached = ordered_json::array();
  for (const UnreachedRow& row : result.unreached) {
    const ControllerTable& table = protocol.table(row.controller);
    unreached.push_back({{"controller", table.name},
                         {"state", table.states[row.state].name},
                         {"event", table.events[row.event]},
                         {"line", row.source_line}});
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
    out += fmt::format("    {}.md:{}: {}: state {}, event {}\n", protocol.name, row.source_line, table.name,
                       table.states[row.state].name, table.events[row.event]);
  }
  return out;
}

std::string result_page(const Protocol& protocol, const CheckOptions& options, const CheckResult& result,
                        const Painter& paint) {
  std::string out = paint(Colour::bold, protocol.name) + "  " + protocol.title + "\n\n";
  if (result.violation) return out + message_diagram(protocol, options, *result.violation);
  out +=
      fmt::format("  {} {} on one bus, one line, values 0 and 1{}\n", options.caches, options.caches == 1 ? "cache" : "caches",
                  options.symmetry ? ", states counted up to renaming of the caches" : "");
  out += fmt::format("  {} states, {} steps, {} deep\n\n", result.states, result.steps, result.depth);
  for (const PromiseName& entry : kPromiseNames) {
    if (promises(protocol, entry.promise))
      out += "  " + paint(Colour::green, "proved") + "  " + promise_text(entry.promise) + "\n";
  }
  if (result.unreached.empty()) out += "  " + paint(Colour::green, "proved") + "  every row runs\n";
  return out + unreached_text(protocol, options, result, paint);
}

ExitCode check(const CheckArguments& arguments) {
  const Protocol protocol = load_protocol(arguments.protocol);
  if (!arguments.murphi.empty()) write_file(arguments.murphi, murphi_model(protocol, arguments.options.caches));
  CheckResult result;
  try {
    result = check_protocol(protocol, arguments.options);
  } catch (const CheckTooLarge& error) {
    throw ConfigError(error.what());
  }
  if (arguments.json) {
    std::cout << result_json(protocol, arguments.options, result).dump(1) << "\n";
  } else {
    std::cout << result_page(protocol, arguments.options, result, painter_for_stdout());
  }
  return result.proved(arguments.options) ? ExitCode::done : ExitCode::check_failed;
}

}  // namespace

void add_check(CLI::App& program, Invocation& invocation) {
  const auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command = program.add_subcommand("check", "Prove a coherence protocol, or show how it breaks");
  command->add_option("PROTOCOL", arguments->protocol, "A name (see: linebounce list protocols), or a file NAME.md")
      ->type_name("");
  command->add_option("--caches", arguments->options.caches, fmt::format("How many, 1 to {} (default: 3)", kMaxCheckedCaches))
      ->check(CLI::Range(1, kMaxCheckedCaches))
      ->option_text("N");
  command->add_flag("--no-symmetry", arguments->all_states, "Also tell states apart that differ only in which cache is which");
  command->add_option("--murphi", arguments->murphi, "Also write the model for Murphi's checkers to this file")
      ->option_text("FILE");
  command->add_flag("--json", arguments->json, "Print one JSON document");
  const auto random = add_random_options(*command);
  command->footer(std::string(kFooter) + kRandomFooter);
  command->callback([arguments, random, &invocation] {
    if (random->wanted(arguments->protocol)) {
      random->json = arguments->json;
      invocation.action = [random] { return check_random(*random); };
      return;
    }
    arguments->options.symmetry = !arguments->all_states;
    invocation.action = [arguments] { return check(*arguments); };
  });
}

}  // namespace linebounce
