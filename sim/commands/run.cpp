
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "sim/answer/point_choice.hpp"
#include "sim/commands/command.hpp"
#include "sim/commands/common_options.hpp"
#include "sim/commands/recognised.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/run_plan.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/steps/waves.hpp"
#include "sim/terminal/progress_line.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {
namespace {

struct RunArguments : OverrideArguments {
  std::string experiment;
  std::string directory;
  std::vector<std::string> points;
  int at_once = available_cores();
  bool quiet = false;
  bool all_points = false;
  bool all_metrics = false;
  bool fresh = false;
  bool unchecked = false;
  bool plan = false;
  bool merge = false;
  std::string waves;
};

constexpr const char* kRunFooter = R"(Examples:
  linebounce run operation_costs
  linebounce run my_locks.toml -o out/slow --set machine.memory.latency_ns=200 --set workload.lock=mcs
  linebounce run two_sockets --set machine=[generic_2socket_32core,epyc_7742_2socket] --set machine.cpus=[8,32]
  linebounce run dcache_httperf --set machine.footprint.code_cache_kib=16    adds instruction misses, by function
  linebounce run my_lock.lua --machine p3_xeon_8way       a lock or a program of your own in Lua (docs/programs.md)
  linebounce run my_lock.c --machine p3_xeon_8way         a lock of your own in C (docs/lock-in-c.md)
  linebounce run lock_scaling --point lock=mcs,cpus=4 --vcd mcs.vcd
  linebounce run lock_scaling --plan                      the points as JSON; with -o D, also which are finished in D
  linebounce run lock_scaling -o D --point 3 --point 4    runs two points; --merge when all are finished

The exit code says whether the simulation ran; `reproduce` checks paper rows against their tolerances. To resume an interrupted
run, give the same command again.)";

// The points to run alone. Settings instead choose the point of a whole run that is shown.
std::vector<int> alone(const RunArguments& arguments) {
  std::vector<int> points;
  for (const std::string& text : arguments.points) {
    if (const auto number = point_number(text)) points.push_back(*number);
  }
  return points;
}

std::string shown_point(const RunArguments& arguments) {
  const auto is_settings = [](const std::string& text) { return !point_number(text); };
  const auto count = std::ranges::count_if(arguments.points, is_settings);
  if (count > 0 && arguments.points.size() > 1)
    throw ConfigError("--point: give either numbers, the points to run, or the settings of one point to show");
  return count > 0 ? arguments.points.front() : "";
}

std::vector<ReportedPoint> reported(const Plan& plan) {
  std::vector<ReportedPoint> points;
  for (const PointPlace& point : plan.points) points.push_back({point.at, {}});
  return points;
}

Plan plan_of(const RunArguments& arguments) {
  refuse_foreign_file(arguments.experiment);
  Experiment experiment = load_runnable(arguments.experiment, overrides_of(arguments));
  const std::vector<int> points = alone(arguments);
  if (points.empty()) return make_plan(std::move(experiment));
  for (const int point : points) require_point(point, point_count(experiment));
  return make_plan(std::move(experiment), points);
}

ExitCode run_chosen_points(const RunArguments& arguments, const Plan& plan, const RunOptions& options) {
  ExitCode code = ExitCode::done;
  for (const int point : alone(arguments)) {
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
  if (!arguments.quiet)
    print_report(plan, report, options.directory, {shown_point(arguments), arguments.all_points, arguments.all_metrics});
  return report.code;
}

void print_plan(const RunArguments& arguments, const Plan& plan) {
  std::optional<std::vector<int>> done;
  if (!arguments.directory.empty()) done = done_points(plan, arguments.directory);
  std::cout << plan_text(plan, done);
}

// The point that --vcd draws: the only one, or the one of --point.
int drawn_point(const RunArguments& arguments, const Plan& plan) {
  if (!arguments.waves.ends_with(".vcd"))
    throw ConfigError(fmt::format("--vcd {}: the name of a waveform file ends with .vcd", arguments.waves));
  if (const std::vector<int> points = alone(arguments); points.size() == 1) return points.front();
  if (plan.points.size() == 1) return 0;
  if (const std::string shown = shown_point(arguments); !shown.empty()) return chosen_point(shown, reported(plan));
  throw ConfigError(
      fmt::format("--vcd draws one point, and these are {}; --point chooses one, by its settings", plan.points.size()));
}

void draw_waves(const RunArguments& arguments, const Plan& plan, int point) {
  UnfinishedFile file(arguments.waves);
  {
    ProgressLine line("drawing " + plan.experiment.name, !arguments.quiet);
    write_waves(plan.make_point(point).input, file.path(), share_of_one_run(line));
  }
  file.finish();
  if (!arguments.quiet) std::cout << fmt::format("Waves: {}\n", arguments.waves);
}

ExitCode run(const RunArguments& arguments, const std::vector<std::string>& argv) {
  if ((arguments.plan ? 1 : 0) + (arguments.merge ? 1 : 0) + (alone(arguments).empty() ? 0 : 1) > 1) {
    throw ConfigError("--plan, --point and --merge exclude each other; give one of them");
  }
  const Plan plan = plan_of(arguments);
  if (const std::string shown = shown_point(arguments); !shown.empty())
    chosen_point(shown, reported(plan));  // refuses an unknown point before the run
  const int drawn = arguments.waves.empty() ? 0 : drawn_point(arguments, plan);
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
  const ExitCode code =
      alone(arguments).empty() ? run_or_merge(arguments, plan, options) : run_chosen_points(arguments, plan, options);
  if (!arguments.waves.empty() && code == ExitCode::done) draw_waves(arguments, plan, drawn);
  return code;
}

}  // namespace

void add_run(Command& program) {
  auto arguments = std::make_shared<RunArguments>();
  Command command = program.subcommand("run", "Run an experiment: every point of its sweep, then merge and print");
  command
      .option("EXPERIMENT", "", &arguments->experiment,
              "A name (see: linebounce list experiments), a TOML file, a program or lock in Lua, or a lock in C")
      .required();
  command.option("-o,--output", "DIR", &arguments->directory, "Results directory; default: out/ and the experiment's name");
  command.option("--machine", "NAME", &arguments->machine, "Use this machine instead of the experiment's");
  command
      .option("--set", "PATH=VALUE", &arguments->sets,
              "Override a value of the experiment or its machine, or sweep it: PATH=[1,2,4]; may be repeated")
      .one_value_each();
  command.option("--seed", "N", &arguments->seed, "Seed of each point's first run; default: the experiment's");
  add_jobs(command, arguments->at_once);
  command.flag("--quiet", arguments->quiet, "Print nothing but errors");
  command.flag("--all", arguments->all_points,
               "Print the rows of every point; default: of a large sweep only those that matter");
  command.flag("--all-metrics", arguments->all_metrics, "Print every metric, by group, after the few that matter most");
  command.flag("--fresh", arguments->fresh, "Delete earlier results in the directory and start over");
  add_native(command, arguments->native);
  add_unchecked(command, arguments->unchecked);
  command.flag("--plan", arguments->plan, "Only print the points, as JSON");
  command
      .option("--point", "P", &arguments->points,
              "A number: only run that point, without merging; may be repeated. Settings, such as lock=mcs,cpus=8: show this "
              "point's latencies, locks and lines")
      .one_value_each();
  command.option(
      "--vcd", "FILE", &arguments->waves,
      "Also write waveforms of a point's first run, for GTKWave and the like: buses, links, and the costliest lines' "
      "states in each cache");
  command.flag("--merge", arguments->merge, "Only merge the points that have been run");
  command.footer(kRunFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return run(*arguments, argv); });
}

}  // namespace linebounce::sim
