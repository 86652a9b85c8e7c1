#include "commands/common/common_options.hpp"

#include <fmt/ranges.h>

#include "sim/answer/point_choice.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/config/sweep.hpp"
#include "sim/plan/foretold_time.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/point/config_error.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/simulation/simulate.hpp"
#include "sim/terminal/progress_line.hpp"

namespace linebounce::sim {

namespace {

// `--set machine=NAME` is `--machine NAME`. Errors: ConfigError if another machine was chosen before.
void choose_machine(Overrides& overrides, std::string name) {
  if (name.size() > 1 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
  if (overrides.machine && *overrides.machine != name)
    throw ConfigError(fmt::format("--set machine={}: the machine is {} already; for a run on both: --set machine=[{},{}]", name,
                                  *overrides.machine, *overrides.machine, name));
  overrides.options.emplace(kMachineAxis, "--set machine");
  overrides.machine = std::move(name);
}

}  // namespace

Overrides overrides_of(const OverrideArguments& arguments) {
  Overrides overrides;
  if (!arguments.machine.empty()) overrides.machine = arguments.machine;
  overrides.seed = arguments.seed;
  overrides.native = arguments.native;
  for (auto& set : split_sets(arguments.sets)) {
    if (is_list(set.second)) {
      if (set.first == kMachineAxis && overrides.machine)
        throw ConfigError(fmt::format("--set machine={}: the machine is {} already; leave out --machine for a run on the list",
                                      set.second, *overrides.machine));
      overrides.lists.push_back(std::move(set));
    } else if (set.first == kMachineAxis) {
      choose_machine(overrides, set.second);
    } else {
      overrides.sets.push_back(std::move(set));
    }
  }
  return overrides;
}

void add_overrides(Command& command, OverrideArguments& arguments) {
  command.option("--machine", "NAME", &arguments.machine, "Use this machine instead of the experiment's");
  command.option("--set", "PATH=VALUE", &arguments.sets, "Override a value of the experiment or its machine; may be repeated")
      .settings();
  command.option("--seed", "N", &arguments.seed, "The run's seed; default: the experiment's").between(0, kLargestSeed);
  add_native(command, arguments.native);
}

void add_native(Command& command, bool& native) {
  command.flag("--native", native,
               "Compile and run locks in C that the experiment's file names; their code runs with all your permissions");
}

void add_unchecked(Command& command, bool& unchecked) {
  command.flag("--unchecked", unchecked, "Use locks from files even if a quick check-lock finds them broken");
}

Option add_jobs(Command& command, int& at_once) {
  return command.option("-j,--jobs", "N", &at_once, "Simulations at the same time; default: one for each core")
      .between(1, 4096);
}

EarlierResults earlier_results(bool fresh) {
  return fresh ? EarlierResults::set_aside : EarlierResults::used;
}

void require_point(int point, std::size_t points) {
  if (point >= 0 && static_cast<std::size_t>(point) < points) return;
  throw ConfigError(out_of_range(point, points));
}

std::optional<std::vector<ReportedPoint>> run_study(const Plan& plan, RunOptions options, ExitCode& code) {
  const auto earlier = manifest_in(options.directory);
  if (earlier && earlier->hash != plan.hash) options.earlier = EarlierResults::replaced;
  const RunReport report = run_with_progress(plan, options, plan.experiment.name, true);
  print_failures(plan, report, options.directory);
  code = larger(code, report.code);
  if (report.code == ExitCode::interrupted || nothing_finished(report)) return std::nullopt;
  return report.results.points;
}

void add_study_options(Command& command, StudyArguments& arguments, const std::string& folder) {
  command.option("TRACE", "", &arguments.trace, "A trace, binary or text").required();
  command.option("--set", "PATH=VALUE", &arguments.sets, "Override a parameter of the machine or the replay").settings();
  command.option("-o,--output", "DIR", &arguments.directory, fmt::format("Folder for the results; default: {}/TRACE", folder))
      .own_directory();
  add_jobs(command, arguments.at_once);
  add_unchecked(command, arguments.unchecked);
  command.flag("--json", arguments.json, "Print one JSON object instead of tables");
  command.when_parsed([&arguments, folder] {
    const std::filesystem::path trace = arguments.trace;
    if (arguments.directory.empty()) arguments.directory = (std::filesystem::path(folder) / trace.stem()).string();
  });
}

void add_machines(Command& command, std::vector<std::string>& machines) {
  command
      .option(
          "--machine", "M", &machines,
          fmt::format("Machines to run on; default: the recorded one, else {}; for more threads, a machine that has the CPUs",
                      fmt::join(kUsualMachines, " and ")))
      .one_value_each();
}

Option add_orders(Command& command, int& orders) {
  return command
      .option("--orders", "N", &orders, fmt::format("Orders of the same operations to compare in; default: {}", orders))
      .between(2, 100);
}

RunOptions run_options(const StudyArguments& arguments, const std::filesystem::path& directory,
                       const std::vector<std::string>& argv) {
  RunOptions options;
  options.directory = directory;
  if (directory != arguments.directory) options.root = arguments.directory;
  options.at_once = arguments.at_once;
  options.argv = argv;
  options.unchecked = arguments.unchecked;
  if (arguments.foretell) options.foretell = [](std::size_t, double) {};
  return options;
}

RunOptions trial_options(const StudyArguments& arguments, const std::filesystem::path& directory,
                         const std::vector<std::string>& argv) {
  RunOptions options = run_options(arguments, directory, argv);
  options.simulation = [](const SimulationInput& input, const std::function<void(double)>& progress) {
    PointData data = simulate(input, progress);
    data.lines.clear();
    return data;
  };
  return options;
}

void print_foretold_replays(const std::filesystem::path& trace, double replay_s, std::size_t replays, std::size_t machines,
                            int at_once) {
  const std::size_t all = replays * machines;
  const double seconds = replay_s * static_cast<double>(all) / at_once;
  if (seconds < kWorthForetelling) return;
  print_foretold(
      fmt::format("{}: about {} on {}", trace.filename().string(), plural(all, "replay"), plural(machines, "machine")),
      seconds);
}

}  // namespace linebounce::sim
