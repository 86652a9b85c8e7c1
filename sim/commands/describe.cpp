#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "sim/commands/commands.hpp"
#include "sim/commands/kinds.hpp"
#include "sim/config/experiment.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/results/numbers.hpp"
#include "workloads/registry.hpp"

namespace linebounce {
namespace {

using nlohmann::ordered_json;

constexpr const char* kFooter = R"(
Examples:
  linebounce describe machine p3_xeon_4way
  linebounce describe experiment operation_costs
  linebounce describe protocol mesi_snoop)";

template <class Entries>
const auto& find_entry(const char* kind, const Entries& entries, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& entry : entries) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw ConfigError(fmt::format("{} {}", kind, not_known(name, known)));
}

std::string heading(const std::string& name, const std::string& title, const Painter& paint) {
  return paint(Colour::bold, name) + "  " + title + "\n";
}

std::string limits_text(const ParameterDeclaration& parameter) {
  if (!parameter.choices.empty()) return fmt::format("one of {}", fmt::join(parameter.choices, ", "));
  const bool number =
      std::holds_alternative<std::int64_t>(parameter.default_value) || std::holds_alternative<double>(parameter.default_value);
  if (!number) return "";
  if (parameter.maximum >= 1e18) return "at least " + significant(parameter.minimum);
  return significant(parameter.minimum) + " to " + significant(parameter.maximum);
}

std::string parameter_text(const ParameterDeclaration& parameter, const Painter& paint) {
  constexpr std::size_t kName = 26;
  constexpr std::size_t kDefault = 16;
  std::string meaning = parameter.meaning;
  if (const std::string limits = limits_text(parameter); !limits.empty()) meaning += " (" + limits + ")";
  return "  " + paint(Colour::cyan, pad_right(parameter.name, kName)) +
         pad_right(value_text(parameter.default_value), kDefault) +
         wrapped_from(meaning, 2 + kName + kDefault, Colour::none, paint);
}

ordered_json parameter_json(const ParameterDeclaration& parameter) {
  ordered_json out;
  out["name"] = parameter.name;
  out["default"] = value_to_json(parameter.default_value);
  out["meaning"] = parameter.meaning;
  if (!parameter.choices.empty()) {
    out["choices"] = parameter.choices;
  } else if (out["default"].is_number()) {
    out["minimum"] = parameter.minimum;
    if (parameter.maximum < 1e18) out["maximum"] = parameter.maximum;
  }
  return out;
}

ordered_json controller_json(const ControllerTable& table) {
  ordered_json states = ordered_json::array();
  for (const StateInfo& state : table.states) states.push_back({{"name", state.name}, {"meaning", state.meaning}});
  ordered_json out;
  out["name"] = table.name;
  out["states"] = std::move(states);
  out["events"] = table.events;
  return out;
}

ExitCode describe(const std::string& word, const std::string& name, bool json) {
  const Kind& kind = find_kind(word);
  if (json) {
    std::cout << kind.describe_json(name).dump(1, ' ', false, ordered_json::error_handler_t::replace) << "\n";
  } else {
    std::cout << kind.describe(name, painter_for_stdout());
  }
  return ExitCode::done;
}

}  // namespace

std::string workload_page(const std::string& name, const Painter& paint) {
  const WorkloadEntry& entry = find_entry("workload", workloads(), name);
  std::string out = heading(entry.name, entry.title, paint);
  if (entry.parameters.empty()) return out + "\n  It has no parameters.\n";
  out += "\n  " + paint(Colour::dim, pad_right("[workload]", 26) + pad_right("default", 16) + "meaning") + "\n";
  for (const ParameterDeclaration& parameter : entry.parameters) out += parameter_text(parameter, paint);
  return out;
}

ordered_json workload_json(const std::string& name) {
  const WorkloadEntry& entry = find_entry("workload", workloads(), name);
  ordered_json out;
  out["name"] = entry.name;
  out["title"] = entry.title;
  out["parameters"] = ordered_json::array();
  for (const ParameterDeclaration& parameter : entry.parameters) out["parameters"].push_back(parameter_json(parameter));
  return out;
}

std::string lock_page(const std::string& name, const Painter& paint) {
  const LockEntry& entry = find_entry("lock", locks(), name);
  return heading(entry.name, entry.title, paint);
}

ordered_json lock_json(const std::string& name) {
  const LockEntry& entry = find_entry("lock", locks(), name);
  return {{"name", entry.name}, {"title", entry.title}};
}

std::string protocol_page(const std::string& name, const Painter&) {
  return describe_protocol(load_protocol(name));
}

ordered_json protocol_json(const std::string& name) {
  const Protocol protocol = load_protocol(name);
  ordered_json out;
  out["name"] = protocol.name;
  out["title"] = protocol.title;
  out["bus"] = protocol.bus == BusKind::split ? "split" : "atomic";
  out["messages"] = ordered_json::array();
  for (const Message& message : protocol.messages) {
    out["messages"].push_back({{"name", message.name}, {"meaning", message.meaning}});
  }
  out["controllers"] = ordered_json::array({controller_json(protocol.cache), controller_json(protocol.memory)});
  return out;
}

void add_describe(CLI::App& program, Invocation& invocation) {
  struct Arguments {
    std::string kind;
    std::string name;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand("describe", "Describe one machine, experiment, workload, lock or protocol");
  command->add_option("KIND", arguments->kind, "machine, experiment, workload, lock or protocol")->type_name("")->required();
  command->add_option("NAME", arguments->name, "A listed name (see: linebounce list), or a file")->type_name("")->required();
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->footer(kFooter);
  command->callback([arguments, &invocation] {
    invocation.action = [arguments] { return describe(arguments->kind, arguments->name, arguments->json); };
  });
}

}  // namespace linebounce
