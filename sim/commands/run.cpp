
#include <iostream>
#include <memory>
#include <optional>

#include "sim/commands/command.hpp"
#include "sim/commands/common_options.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/run_plan.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {
namespace {

struct RunArguments : OverrideArguments {
  std::string experiment;
  std::string directory;
  std::vector<int> points;
  int at_once = available_cores();
  bool quiet = false;
  bool all_points = false;
  bool all_metrics = false;
  bool fresh = false;
  bool unchecked = false;
  bool plan = false;
  bool merge = false;
};

constexpr const char* kRunFooter = R"(Examples:
  linebounce run operation_costs
  linebounce run my_locks.toml -o out/slow --set machine.memory.latency_ns=200 --set workload.lock=mcs
  linebounce run dcache_httperf --set machine.footprint.code_cache_kib=16    with misses of code, by function
  linebounce run my_lock.lua --machine p3_xeon_8way       a lock or a program of your own in Lua (docs/programs.md)
  linebounce run lock_scaling --plan                      the points, as JSON; with -o D also which of them are finished in D
  linebounce run lock_scaling -o D --point 3 --point 4    two of them; when all are finished, --merge

The exit code says whether the simulation ran, not whether paper rows are within tolerance; that is `reproduce`'s.
An interrupted run resumes when the same command is given again.)";

Plan plan_of(const RunArguments& arguments) {
  Experiment experiment = load_runnable(arguments.experiment, overrides_of(arguments));
  if (arguments.points.empty()) return make_plan(std::move(experiment));
  for (const int point : arguments.points) require_point(point, point_count(experiment));
  return make_plan(std::move(experiment), arguments.points);
}

ExitCode run_chosen_points(const RunArguments& arguments, const Plan& plan, const RunOptions& options) {
  ExitCode code = ExitCode::done;
  for (const int point : arguments.points) {
    const RunReport report = run_one_point(plan, point, options);
    print_failures(plan, report, options.directory);
    if (!arguments.quiet) print_point(plan, point, report, options.directory);
    code = larger(code, report.code);
    if (report.code == ExitCode::interrupted) break;
  }
  return code;
}

ExitCode run_or_merge(const RunArguments& arguments, const Plan& plan, const RunOptions& options) {
  const RunReport report =
      arguments.merge ? merge_plan(plan, options) : run_with_progress(plan, options, plan.experiment.name, !arguments.quiet);
  print_failures(plan, report, options.directory);
  if (!arguments.quiet) print_report(plan, report, options.directory, {arguments.all_points, arguments.all_metrics});
  return report.code;
}

void print_plan(const RunArguments& arguments, const Plan& plan) {
  std::optional<std::vector<int>> done;
  if (!arguments.directory.empty()) done = done_points(plan, arguments.directory);
  std::cout << plan_text(plan, done);
}

ExitCode run(const RunArguments& arguments, const std::vector<std::string>& argv) {
  if ((arguments.plan ? 1 : 0) + (arguments.merge ? 1 : 0) + (arguments.points.empty() ? 0 : 1) > 1) {
    throw ConfigError("--plan, --point and --merge are three different things to do: give one of them");
  }
  const Plan plan = plan_of(arguments);
  if (arguments.plan) {
    print_plan(arguments, plan);
    return ExitCode::done;
  }
  RunOptions options;
  options.directory = arguments.directory.empty() ? "out/" + plan.experiment.name : arguments.directory;
  options.at_once = arguments.at_once;
  options.fresh = arguments.fresh;
  options.unchecked = arguments.unchecked;
  options.argv = argv;
  return arguments.points.empty() ? run_or_merge(arguments, plan, options) : run_chosen_points(arguments, plan, options);
}

}  // namespace

void add_run(Command& program) {
  auto arguments = std::make_shared<RunArguments>();
  Command command = program.subcommand("run", "Run an experiment: every point of its sweep, then merge and print");
  command
      .option("EXPERIMENT", "", &arguments->experiment,
              "A name (see: linebounce list experiments), a TOML file, or a program or lock in Lua")
      .required();
  command.option("-o,--output", "DIR", &arguments->directory, "Results directory; default: out/ and the experiment's name");
  command.option("--machine", "NAME", &arguments->machine, "Use this machine instead of the experiment's");
  command.option("--set", "path=value", &arguments->sets, "Override a value of the experiment or its machine; may be repeated")
      .one_value_each();
  command.option("--seed", "N", &arguments->seed, "Seed of each point's first run; default: the experiment's");
  add_jobs(command, arguments->at_once);
  command.flag("--quiet", arguments->quiet, "Print nothing but errors");
  command.flag("--all", arguments->all_points, "Print the rows of every point; otherwise of many those that matter");
  command.flag("--all-metrics", arguments->all_metrics, "Print every metric, by group, behind the few that matter most");
  command.flag("--fresh", arguments->fresh, "Delete earlier results in the directory and start over");
  add_unchecked(command, arguments->unchecked);
  command.flag("--plan", arguments->plan, "Only print the points, as JSON");
  command.option("--point", "K", &arguments->points, "Only run point K, without merging; may be repeated").one_value_each();
  command.flag("--merge", arguments->merge, "Only merge the points that have been run");
  command.footer(kRunFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return run(*arguments, argv); });
}

}  // namespace linebounce::sim
