#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include "commands/common/command.hpp"
#include "commands/describe/describe_layout.hpp"
#include "commands/describe/named_kinds.hpp"
#include "models/text/spelling.hpp"
#include "models/text/text_lines.hpp"
#include "sim/config/experiment.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/results/metrics.hpp"
#include "sim/results/numbers.hpp"
#include "sim/terminal/table.hpp"
#include "workloads/counters/counter_registry.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kDescribeFooter = R"(Examples:
  linebounce describe machine p3_xeon_4way
  linebounce describe experiment operation_costs
  linebounce describe workload my_program.lua             what your own program declares; also: describe lock FILE.lua
  linebounce describe mesi_snoop                              the kind may be left out if the name is unique
  linebounce describe layout linux_2_4_16 dentry          a structure, line by line
  linebounce describe layout linux_2_6_20 --experiment what_if/inode_read_mostly
      before and after the experiment's [[layout.change]])";

template <class Entries>
const auto& find_entry(const char* kind, const Entries& entries, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& entry : entries) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw ConfigError(fmt::format("{} {}", kind, not_known(name, known, fmt::format("linebounce list {}s", kind))));
}

WorkloadEntry workload_called(const std::string& name) {
  if (!is_lua_path(name)) return find_entry("workload", all_workloads(), name);
  const LuaDeclaration declared = load_lua_file(name).declared;
  return {name, declared.title, declared.parameters, nullptr};
}

CounterEntry counter_called(const std::string& name) {
  if (!is_lua_path(name)) return find_entry("counter", all_counters(), name);
  const LuaFile file = load_lua_file(name);
  if (!file.declared.counter.events && !file.declared.counter.references)
    throw ConfigError(name + " is not a counter: it defines neither add and read nor get and put");
  return {name, file.declared.title, nullptr, nullptr};
}

// For each reason, "; not tas, ttas: REASON".
std::string refusals_text(const ParameterDeclaration& parameter) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [value, reason] : parameter.refusals) by_reason[reason].push_back(value);
  std::string out;
  for (const auto& [reason, values] : by_reason) out += fmt::format("; not {}: {}", fmt::join(values, ", "), reason);
  return out;
}

std::string limits_text(const ParameterDeclaration& parameter) {
  if (!parameter.choices.empty()) {
    return fmt::format("one of {}{}", fmt::join(parameter.choices, ", "), refusals_text(parameter));
  }
  const bool number =
      std::holds_alternative<std::int64_t>(parameter.default_value) || std::holds_alternative<double>(parameter.default_value);
  if (!number) return "";
  if (parameter.maximum >= 1e18) return "at least " + significant(parameter.minimum);
  return significant(parameter.minimum) + " to " + significant(parameter.maximum);
}

std::string meaning_of(const ParameterDeclaration& parameter) {
  const std::string limits = limits_text(parameter);
  return parameter.meaning + (limits.empty() ? "" : " (" + limits + ")");
}

std::string parameter_table(const std::vector<ParameterDeclaration>& parameters, const Painter& paint) {
  Table table({words("[workload]", 32), words("default", 16), prose("meaning")}, paint);
  for (const ParameterDeclaration& parameter : parameters) {
    table.add({{parameter.name, Colour::cyan}, value_text(parameter.default_value), meaning_of(parameter)});
  }
  return "\n" + table.text();
}

ordered_json parameter_json(const ParameterDeclaration& parameter) {
  ordered_json out;
  out["name"] = parameter.name;
  out["default"] = value_to_json(parameter.default_value);
  out["meaning"] = parameter.meaning;
  if (!parameter.choices.empty()) {
    out["choices"] = parameter.choices;
    if (!parameter.refusals.empty()) out["refusals"] = parameter.refusals;
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

struct DescribeArguments {
  std::string kind;
  LayoutQuestion about;  // only a description of layouts uses more than the name
  bool json = false;
};

// Returns what is wrong with --line-bytes; empty if it is legal.
std::string line_bytes_problem(const std::string& text) {
  for (int bytes = 8; bytes <= 4096; bytes *= 2) {
    if (text == std::to_string(bytes)) return "";
  }
  return "\"" + text + "\" is not a line size; legal: powers of two, 8 to 4096";
}

void refuse_layout_options(const Kind& kind, const LayoutQuestion& about) {
  const bool any = !about.structure.empty() || !about.machine.empty() || !about.experiment.empty() || about.line_bytes;
  if (any)
    throw ConfigError(
        fmt::format("a {} is described by its name alone; STRUCTURE, --line-bytes, --machine and --experiment are "
                    "for layouts",
                    kind.singular));
}

// Finds the kind of a name that the user gave without a kind. Errors: ConfigError if no kind or several kinds have the name.
const Kind& kind_of(const std::string& name) {
  if (is_lua_path(name)) {
    const LuaDeclaration declared = load_lua_file(name).declared;
    return find_kind(declared.program ? "workload" : declared.lock ? "lock" : "counter");
  }
  std::vector<const Kind*> found;
  std::vector<std::string> known;
  for (const Kind& kind : kKinds) {
    if (name == kind.singular || name == kind.plural)
      throw ConfigError(fmt::format("which {}? `linebounce list {}` shows them", kind.singular, kind.plural));
    const std::vector<std::string> names = names_of(kind);
    known.insert(known.end(), names.begin(), names.end());
    // Metrics are mostly declared as patterns, so a name with a dot is matched against these instead of listed names.
    const bool is_metric = kind.singular == "metric" && name.find('.') != std::string::npos && find_metric(name) != nullptr;
    if (is_metric || std::ranges::find(names, name) != names.end()) found.push_back(&kind);
  }
  if (found.size() == 1) return *found.front();
  if (found.empty()) {
    const std::string near = nearest(name, known);
    throw ConfigError(fmt::format("\"{}\" is not known{} `linebounce list` shows what there is", name,
                                  near.empty() ? ";" : fmt::format("; did you mean {}?", near)));
  }
  std::vector<std::string> commands;
  for (const Kind* kind : found) commands.push_back(fmt::format("linebounce describe {} {}", kind->singular, name));
  throw ConfigError(fmt::format("several things are called {}: {}", name, fmt::join(commands, ", ")));
}

// The README.md in the file's folder or the nearest parent that has one; empty if there is none.
fs::path readme_of(const fs::path& file) {
  std::error_code none;
  for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (fs::is_regular_file(project_root() / folder / "README.md", none)) return folder / "README.md";
  }
  return {};
}

// The path of a shipped file, and of the README about such files. Empty for a user's file, or if the sources are not installed.
std::string file_line(const Kind& kind, const std::string& name, const Painter& paint) {
  const auto of = [&name](const FileKind& files) { return fmt::format("{}/{}{}", files.folder, name, files.extension); };
  const std::map<std::string_view, std::vector<std::string>> places = {
      {"machine", {of(kMachineFiles)}},
      {"experiment", {of(kExperimentFiles)}},
      {"family", {of(kFamilyFiles)}},
      {"layout", {of(kLayoutFiles)}},
      {"protocol", {of(kProtocolFiles)}},
      {"lock", {fmt::format("programs/locks/{}.lua", name), fmt::format("workloads/locks/{}.cpp", name)}},
      {"counter", {fmt::format("programs/{}.lua", name), fmt::format("workloads/counters/{}.cpp", name)}},
  };
  const auto of_kind = places.find(kind.singular);
  if (of_kind == places.end()) return "";
  for (const fs::path file : of_kind->second) {
    std::error_code none;
    if (!fs::is_regular_file(project_root() / file, none)) continue;
    const fs::path readme = readme_of(file);
    const std::string explained = readme.empty() ? "" : fmt::format("; {} explains such files", readme.string());
    return "\n" + paragraph("file  " + file.string() + explained, 2, Colour::dim, paint);
  }
  return "";
}

ExitCode describe(const DescribeArguments& arguments) {
  const bool name_alone = arguments.about.name.empty();
  const Kind& kind = name_alone ? kind_of(arguments.kind) : find_kind(arguments.kind);
  const bool layout = kind.singular == "layout";
  if (!layout) refuse_layout_options(kind, arguments.about);
  LayoutQuestion about = arguments.about;
  if (name_alone) about.name = arguments.kind;
  const std::string& name = about.name;
  if (arguments.json) {
    const ordered_json document = layout ? layout_answer_json(about) : kind.describe_json(name);
    std::cout << document.dump(1, ' ', false, ordered_json::error_handler_t::replace) << "\n";
  } else {
    const Painter paint = painter_for_stdout();
    std::cout << (layout ? layout_answer(about, paint) : kind.describe(name, paint)) << file_line(kind, name, paint);
  }
  return ExitCode::done;
}

}  // namespace

std::string workload_page(const std::string& name, const Painter& paint) {
  const WorkloadEntry entry = workload_called(name);
  return titled(entry.name, entry.title, paint) +
         (entry.parameters.empty() ? "\n  It has no parameters.\n" : parameter_table(entry.parameters, paint));
}

ordered_json workload_json(const std::string& name) {
  const WorkloadEntry entry = workload_called(name);
  ordered_json out;
  out["name"] = entry.name;
  out["title"] = entry.title;
  out["parameters"] = ordered_json::array();
  for (const ParameterDeclaration& parameter : entry.parameters) out["parameters"].push_back(parameter_json(parameter));
  return out;
}

std::string counter_page(const std::string& name, const Painter& paint) {
  const CounterEntry entry = counter_called(name);
  return titled(entry.name, entry.title, paint);
}

ordered_json counter_json(const std::string& name) {
  const CounterEntry entry = counter_called(name);
  return {{"name", entry.name}, {"title", entry.title}};
}

// Makes the page's tables as wide as the terminal, and wraps long sentences.
std::string protocol_page(const std::string& name, const Painter& paint) {
  std::string out;
  for (const std::string& line : text_lines(describe_protocol(load_protocol(name), std::min(kWidestGrid, paint.columns())))) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    out += width_of(line) <= paint.columns()
               ? line + "\n"
               : std::string(indent, ' ') + wrapped_from(line.substr(indent), indent + 2, Colour::none, paint);
  }
  return out;
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
  out["controllers"] = ordered_json::array();
  for (std::size_t controller = 0; controller < kControllers; ++controller) {
    const ControllerTable& table = protocol.table(static_cast<Controller>(controller));
    if (!table.states.empty()) out["controllers"].push_back(controller_json(table));
  }
  return out;
}

void add_describe(Command& program) {
  auto arguments = std::make_shared<DescribeArguments>();
  Command command = program.subcommand("describe", "Describe one of the machines, experiments, locks and so on that list has",
                                       HelpGroup::runs);
  command.try_first("linebounce describe machine p3_xeon_4way", "draw a machine, list its parameters and their sources");
  command.option("KIND", "", &arguments->kind, listed_kinds(&Kind::singular) + "; or NAME alone, if it is unique").required();
  LayoutQuestion& about = arguments->about;
  command.option("NAME", "", &about.name, "A listed name (see: linebounce list), or a file");
  command.option("STRUCTURE", "", &about.structure, "Layouts: only this structure");
  command.option("--line-bytes", "N", &about.line_bytes, "Layouts: draw lines of this size; default: the file's")
      .check(line_bytes_problem);
  command.option("--machine", "NAME", &about.machine, "Layouts: draw lines of this machine's size");
  command.option("--experiment", "NAME", &about.experiment, "Layouts: show before and after this experiment's changes");
  command.flag("--json", arguments->json, "Print one JSON object");
  command.footer(kDescribeFooter);
  command.action([arguments] { return describe(*arguments); });
}

}  // namespace linebounce::sim
