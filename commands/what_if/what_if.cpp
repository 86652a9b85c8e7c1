#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "commands/what_if/what_if_effect.hpp"
#include "commands/what_if/what_if_table.hpp"
#include "models/text/visible.hpp"
#include "sim/config/project_files.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/run_report.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kWhatIfFooter = R"(Examples:
  linebounce what-if                                   all changes in configs/experiments/what_if, ranked by gain
  linebounce what-if what_if/no_plug what_if/slub      two of them
  linebounce what-if mine/ -o out/mine --json          all experiments in a folder, as JSON
  linebounce what-if my_change.toml                    your own: an experiment whose [sweep] has two values

Each experiment's first point is the base, its second the change. Both run with the same seeds; finished runs are reused. The gain
is the miss latency that the kernel saves per operation of the workload.)";

struct WhatIfArguments {
  std::vector<std::string> names = {"what_if"};
  std::string directory = "out";
  int at_once = available_cores();
  bool json = false;
};

// The experiments in a user's folder, sorted.
std::vector<std::string> experiments_in(const fs::path& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// A shipped or own folder's experiments, or the single experiment of that name.
std::vector<std::string> experiments_of(const std::string& word) {
  std::string folder = word;
  if (!folder.ends_with("/")) folder += "/";
  std::vector<std::string> names = file_names(kExperimentFiles);
  std::erase_if(names, [&folder](const std::string& name) { return !name.starts_with(folder); });
  if (names.empty() && fs::is_directory(word)) names = experiments_in(word);
  return names.empty() ? std::vector{word} : names;
}

// Reads all experiments before running any, so that an error in the last one appears at once.
std::vector<Plan> plans_of(const std::vector<std::string>& words) {
  std::vector<Plan> plans;
  for (const std::string& word : words) {
    for (const std::string& name : experiments_of(word)) {
      Plan plan = make_plan(load_unexpanded(name, {}));
      require_pair(plan);
      const bool known =
          std::ranges::any_of(plans, [&plan](const Plan& other) { return other.experiment.name == plan.experiment.name; });
      if (!known) plans.push_back(std::move(plan));
    }
  }
  return plans;
}

ordered_json change_json(const PairedChange& change, const char* unit) {
  return {{"base", rounded(change.base)},
          {"changed", rounded(change.changed)},
          {"unit", unit},
          {"change_pct", rounded(change.change_pct)},
          {"ci95_pct", rounded(change.ci95_pct)},
          {"significant", change.significant()}};
}

ordered_json effect_json(const Effect& effect) {
  constexpr std::size_t kLines = 10;
  ordered_json lines = ordered_json::array();
  for (std::size_t i = 0; i < std::min(kLines, effect.lines.size()); ++i) {
    const LineChange& line = effect.lines[i];
    lines.push_back({{"structure", line.structure},
                     {"line", line.line},
                     {"base_us", rounded(line.base_us)},
                     {"changed_us", rounded(line.changed_us)}});
  }
  ordered_json subsystems = ordered_json::array();
  for (const SubsystemChange& subsystem : effect.subsystems) {
    ordered_json entry = {{"name", subsystem.name}};
    entry.update(change_json(subsystem.latency, "us"));
    subsystems.push_back(std::move(entry));
  }
  return {{"experiment", effect.experiment},
          {"title", effect.title},
          {"machine", effect.machine},
          {"directory", effect.directory},
          {"seeds", effect.seeds},
          {"base", at_to_json(effect.base_at)},
          {"changed", at_to_json(effect.changed_at)},
          {"latency_per_operation", change_json(effect.latency, "us")},
          {"throughput", change_json(effect.throughput, "1/s")},
          {"subsystems", std::move(subsystems)},
          {"lines", std::move(lines)},
          {"assumptions", effect.assumptions}};
}

std::string document(const std::vector<Effect>& effects) {
  ordered_json experiments = ordered_json::array();
  for (const Effect& effect : effects) experiments.push_back(effect_json(effect));
  const ordered_json out = {{"schema", "linebounce.what_if/1"}, {"experiments", std::move(experiments)}};
  return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ExitCode what_if(const WhatIfArguments& arguments, const std::vector<std::string>& argv) {
  const std::vector<Plan> plans = plans_of(arguments.names);
  if (plans.size() > 1 && terminal_columns(STDERR_FILENO))
    std::cerr << fmt::format("{} experiments, some minutes; `linebounce what-if {}` runs one alone\n", plans.size(),
                             plans.front().experiment.name);
  make_own_directory(arguments.directory);
  ExitCode code = ExitCode::done;
  std::vector<Effect> effects;
  for (const Plan& plan : plans) {
    RunOptions options;
    options.directory = inner_path(arguments.directory, plan.experiment.name);
    options.at_once = arguments.at_once;
    options.argv = argv;
    const RunReport report = run_with_progress(plan, options, plan.experiment.name, true);
    print_failures(plan, report, options.directory);
    code = larger(code, report.code);
    if (report.code == ExitCode::interrupted) return code;
    if (report.code == ExitCode::done) effects.push_back(effect_of(plan, options.directory));
  }
  rank(effects);
  const fs::path file = fs::path(arguments.directory) / "what_if.json";
  replace_file(file, visible(document(effects)));
  if (arguments.json) {
    std::cout << document(effects);
  } else {
    for (const Plan& plan : plans) std::cout << limits_of_traces(plan, painter_for_stdout());
    if (!effects.empty()) std::cout << what_if_table(effects, painter_for_stdout()) << "\n";
    std::cout << results_line(file.string(), painter_for_stdout());
  }
  return code;
}

}  // namespace

void add_what_if(Command& program) {
  auto arguments = std::make_shared<WhatIfArguments>();
  Command command = program.subcommand("what-if", "Run changes against their base, and rank them by gain", HelpGroup::runs);
  command.option("NAME", "", &arguments->names, "Experiments of two points, or folders of them; default: what_if");
  command.option("-o,--output", "DIR", &arguments->directory, "Folder for the results directories; default: out")
      .own_directory();
  add_jobs(command, arguments->at_once);
  command.flag("--json", arguments->json, "Print one JSON object instead of a table");
  command.footer(kWhatIfFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return what_if(*arguments, argv); });
}

}  // namespace linebounce::sim
