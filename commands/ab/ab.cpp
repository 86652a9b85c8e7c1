// `linebounce ab`: runs two settings of one experiment with the same seeds, and says which one is better.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "commands/common/family_range_runs.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/sweep.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/run_plan.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {
namespace {

constexpr int kSeeds = 5;  // default number of seeds; fewer give wide intervals

struct AbArguments {
  std::string experiment;
  std::vector<std::string> machines;
  std::vector<std::string> sets;
  std::string directory;
  int at_once = available_cores();
  bool fresh = false;
  bool unchecked = false;
  bool native = false;
  bool no_family_range = false;
};

constexpr const char* kAbFooter = R"(Examples:
  linebounce ab two_sockets --set workload.lock=mcs --set workload.lock=cohort
  linebounce ab programs/false_sharing.lua --machine p3_xeon_8way --set machine.line_bytes=64 --set machine.line_bytes=128
  linebounce ab two_sockets --machine xeon_e7_8867l_8socket --machine opteron_6172_4socket --set workload.lock=ticket

The two sides are the two values of the path, or the two machines, given twice. Everything given once applies to both sides. Both
sides run with the same seeds, so the interval of their difference is narrower than each side's own.)";

// Finds the path that --set names twice; its two values are the sides. All other settings apply to both sides.
Overrides both_sides(const AbArguments& arguments) {
  std::vector<std::pair<std::string, std::string>> sets = split_sets(arguments.sets);
  std::map<std::string, std::vector<std::string>> values;
  for (const auto& [path, value] : sets) values[path].push_back(value);
  if (!arguments.machines.empty()) {
    std::vector<std::string>& machines = values[std::string(kMachineAxis)];
    machines.insert(machines.begin(), arguments.machines.begin(), arguments.machines.end());
  }
  Overrides overrides;
  overrides.native = arguments.native;
  for (const auto& [path, given] : values) {
    if (path == kMachineAxis) overrides.options.emplace(path, arguments.machines.empty() ? "--set machine" : "--machine");
    if (path == kMachineAxis && given.size() == 1 && !is_list(given.front())) {
      overrides.machine = given.front();
      continue;
    }
    if (given.size() == 1) {
      (is_list(given.front()) ? overrides.lists : overrides.sets).emplace_back(path, given.front());
      continue;
    }
    if (!overrides.compare.empty()) {
      throw ConfigError(
          fmt::format("{} and {} are both given more than once; compare one at a time, or sweep the other: "
                      "--set {}=[{}]",
                      overrides.compare, path, path, fmt::join(given, ", ")));
    }
    if (given.size() > 2)
      throw UsageError(
          fmt::format("{} is given {} times, and ab compares two values; for more: linebounce run {} --set '{}=[{}]'", path,
                      given.size(), arguments.experiment, path, fmt::join(given, ", ")));
    const std::string& first = given.front();
    if (std::ranges::all_of(given, [&first](const std::string& value) { return value == first; }))
      throw ConfigError(fmt::format("both sides have {}={}; give two different values", path, first));
    overrides.compare = path;
    overrides.lists.emplace_back(path, fmt::format("[{}]", fmt::join(given, ", ")));
  }
  if (overrides.compare.empty())
    throw UsageError("give the two sides as one path with two values: --set PATH=A --set PATH=B, or --machine A --machine B");
  return overrides;
}

ExitCode ab(const AbArguments& arguments, const std::vector<std::string>& argv) {
  Overrides overrides = both_sides(arguments);
  Experiment experiment = load_runnable(arguments.experiment, overrides);
  const auto is_seeds = [](const auto& set) { return set.first == "run.seeds"; };
  if (experiment.seeds < kSeeds && std::ranges::none_of(overrides.sets, is_seeds)) {
    overrides.sets.emplace_back("run.seeds", std::to_string(kSeeds));
    experiment = load_runnable(arguments.experiment, overrides);
  }
  const Plan plan = make_plan(std::move(experiment));
  RunOptions options;
  options.directory = arguments.directory.empty() ? "out/ab_" + plan.experiment.name : arguments.directory;
  options.at_once = arguments.at_once;
  options.unchecked = arguments.unchecked;
  options.argv = argv;
  // Earlier results of another configuration make way unasked only in the default folder, never in one that the user names.
  const auto earlier = manifest_in(options.directory);
  options.earlier = earlier_results(arguments.fresh || (arguments.directory.empty() && earlier && earlier->hash != plan.hash));
  RunReport report = run_with_progress(plan, options, plan.experiment.name, true);
  print_failures(plan, report, options.directory);
  if (!arguments.no_family_range) add_family_range(plan, options, true, report);
  print_report(plan, report, options.directory);
  return report.code;
}

}  // namespace

void add_ab(Command& program) {
  auto arguments = std::make_shared<AbArguments>();
  Command command = program.subcommand("ab", "Run two settings of an experiment with the same seeds, and say which is better",
                                       HelpGroup::runs);
  command.try_first("linebounce ab oltp --set machine.cpus=8 --set machine.cpus=16", "which of two settings is better");
  command
      .option("EXPERIMENT", "", &arguments->experiment,
              "A name (see: linebounce list experiments), a TOML file, a program or lock in Lua, or a lock in C")
      .required();
  command.option("--set", "PATH=VALUE", &arguments->sets, "A value; a path given twice is compared").one_value_each();
  command.option("--machine", "NAME", &arguments->machines, "The machine; two machines given are compared").one_value_each();
  command.option("-o,--output", "DIR", &arguments->directory, "Results directory; default: out/ab_ and the experiment's name")
      .own_directory();
  add_jobs(command, arguments->at_once);
  command.flag("--fresh", arguments->fresh, kFreshMeaning);
  add_native(command, arguments->native);
  add_unchecked(command, arguments->unchecked);
  command.flag("--no-family-range", arguments->no_family_range,
               "On a machine of your own: do not run both sides again with other values of its contention family");
  command.footer(kAbFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return ab(*arguments, argv); });
}

}  // namespace linebounce::sim
