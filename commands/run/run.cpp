
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "commands/common/family_range_runs.hpp"
#include "commands/course/exercise.hpp"
#include "commands/run/run_trace.hpp"
#include "commands/steps/waves.hpp"
#include "forms/forms.hpp"
#include "forms/recognised.hpp"
#include "sim/answer/point_choice.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/project_files.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/run_plan.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/terminal/progress_line.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {
namespace {

struct RunArguments : OverrideArguments {
  std::string experiment;
  std::string directory;
  std::vector<std::string> points;
  int at_once = 0;  // 0: one for each core
  bool quiet = false;
  bool all_points = false;
  bool all_metrics = false;
  bool fresh = false;
  bool unchecked = false;
  bool plan = false;
  bool merge = false;
  bool no_family_range = false;
  std::string waves;
  CounterArguments counters;
  std::vector<std::string> more_files;  // further trace files, if a trace is given instead of an experiment
  TraceOptions trace;                   // its options, without files and overrides
};

constexpr const char* kRunFooter = R"(Examples:
  linebounce run operation_costs
  linebounce run my_locks.toml -o out/slow --set machine.memory.latency_ns=200 --set workload.lock=mcs
  linebounce run two_sockets --set machine=[generic_2socket_32core,epyc_7742_2socket] --set machine.cpus=[8,32]
  linebounce run dcache_httperf --set machine.footprint.code_cache_kib=16    adds instruction misses, by function
  linebounce run my_lock.lua --machine p3_xeon_8way       a lock or a program of your own in Lua (docs/programs.md)
  linebounce run my_queue.c --machine p3_xeon_8way         a lock of your own in C (docs/lock-in-c.md)
  linebounce run lock_scaling --point lock=mcs,cpus=4 --vcd mcs.vcd
  linebounce run course.txt --protocol mesi_atomic --cache-bytes 8192 --ways 2 --line-bytes 64
      a course's trace (docs/course-traces.md), with the counters of each cache
  linebounce run --accesses "r1 w1 r1 w1 r2 w2" --protocol mesi --cost "cycles = hits + bus_upgr*60 + misses*90"
  linebounce run course.txt --protocol mesi --cost "cycles = hits*1 + c2c*20 + memory*150"
  linebounce run lock_scaling --plan                      the points as JSON; with -o D, also which are finished in D
  linebounce run lock_scaling -o D --point 3 --point 4    runs two points; --merge when all are finished

The exit code says whether the simulation ran; `reproduce` checks paper rows against their tolerances. To resume an interrupted
run, give the same command again.)";

// The points to run, by number, if --point gives a number; otherwise empty, for all points. If --point gives settings, they
// only choose which point to show.
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
  Overrides overrides = overrides_of(arguments);
  if (arguments.counters.wanted()) {
    for (auto& setting : split_sets({"run.counters=true"})) overrides.sets.push_back(std::move(setting));
    overrides.options.emplace("run.counters", arguments.counters.listing.empty() ? "--counters" : "--listing");
  }
  Experiment experiment = load_runnable(arguments.experiment, overrides);
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

// Prints the counters of each point. With --listing, standard output contains nothing else.
void print_counters(const RunArguments& arguments, const RunReport& report) {
  for (const ReportedPoint& point : report.results.points) {
    const CounterListing listing = listing_of(point);
    if (!listing.empty()) std::cout << counters_text(arguments.counters, listing) << "\n";
  }
}

ExitCode run_or_merge(const RunArguments& arguments, const Plan& plan, const RunOptions& options) {
  RunReport report =
      arguments.merge ? merge_plan(plan, options) : run_with_progress(plan, options, plan.experiment.name, !arguments.quiet);
  print_failures(plan, report, options.directory);
  if (!arguments.merge && !arguments.no_family_range) add_family_range(plan, options, !arguments.quiet, report);
  if (arguments.counters.wanted()) print_counters(arguments, report);
  if (!arguments.quiet && arguments.counters.listing.empty())
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
    throw ConfigError(fmt::format("--vcd {}: a waveform file's name ends in .vcd", arguments.waves));
  if (const std::vector<int> points = alone(arguments); points.size() == 1) return points.front();
  if (plan.points.size() == 1) return 0;
  if (const std::string shown = shown_point(arguments); !shown.empty()) return chosen_point(shown, reported(plan));
  throw ConfigError(fmt::format("--vcd draws one point, and the experiment has {}; --point chooses one, by its settings",
                                plan.points.size()));
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

constexpr std::string_view kElf =
    "\x7f"
    "ELF";

// Refuses a file that is none of what `run` takes. Errors: ConfigError, which names the command that takes it, if one does.
void require_known_kind(const std::string& file) {
  refuse_foreign_file(file);
  std::error_code ignored;
  if (!shipped_file(kExperimentFiles, file) && std::filesystem::exists(std::filesystem::path(file) / "manifest.json", ignored))
    throw ConfigError(
        fmt::format("{0}: this is a results directory; linebounce report, lines or explain {0} look into it", file));
  const bool is_named = file.ends_with(".toml") || is_source_path(file);
  if (is_named || !std::filesystem::is_regular_file(file, ignored)) return;
  if (excerpt_of(file).bytes.starts_with(kElf))
    throw ConfigError(
        fmt::format("{0}: this is a program; record it: linebounce-record -- {0}, then: linebounce advise {1}.lbt", file,
                    std::filesystem::path(file).filename().string()));
  if (file.ends_with(".md")) throw ConfigError(fmt::format("{0}: a protocol's file is for linebounce check {0}", file));
  throw ConfigError(
      fmt::format("{}: not a trace in a known form, and an experiment's file must be called NAME.toml, a program's or lock's "
                  "NAME.lua, a lock's in C NAME.c",
                  file));
}

// Refuses options that only make sense for a trace. Errors: UsageError.
void refuse_options_of_traces(const RunArguments& arguments) {
  if (arguments.more_files.empty() && !has_trace_options(arguments.trace)) return;
  split_sets(arguments.sets);  // "--set PATH VALUE" leaves VALUE among the files
  if (!arguments.more_files.empty()) {
    const std::string& word = arguments.more_files.front();
    throw UsageError(word.find('=') != std::string::npos
                         ? fmt::format("unexpected argument \"{0}\"; settings are given by --set: --set {0}", word)
                         : fmt::format("unexpected argument \"{}\": {} is not a trace, and further files are for traces", word,
                                       arguments.experiment));
  }
  throw UsageError(
      fmt::format("{} is not a trace: --as, --protocol, --cache-bytes, --ways and --line-bytes are for "
                  "traces; an experiment's are set by --set",
                  arguments.experiment));
}

// Refuses options that only an experiment takes. Errors: UsageError.
void refuse_options_of_experiments(const RunArguments& arguments) {
  const std::pair<const char*, bool> options[] = {{"--point", !arguments.points.empty()},
                                                  {"--plan", arguments.plan},
                                                  {"--merge", arguments.merge},
                                                  {"--vcd", !arguments.waves.empty()},
                                                  {"--all", arguments.all_points},
                                                  {"--all-metrics", arguments.all_metrics},
                                                  {"--native", arguments.native},
                                                  {"--unchecked", arguments.unchecked},
                                                  {"--no-family-range", arguments.no_family_range}};
  const std::string given_instead =
      arguments.experiment.empty() ? "--accesses takes the place of a trace" : arguments.experiment + " is a trace";
  for (const auto& [name, given] : options) {
    if (given) throw UsageError(fmt::format("{} is for experiments, and {}", name, given_instead));
  }
}

TraceArguments trace_of(const RunArguments& arguments) {
  TraceArguments trace{
      arguments.trace, arguments.directory, arguments.counters, arguments.fresh, arguments.quiet, arguments.at_once,
  };
  trace.overrides = arguments;
  trace.files = {arguments.experiment};
  trace.files.insert(trace.files.end(), arguments.more_files.begin(), arguments.more_files.end());
  return trace;
}

ExitCode run(const RunArguments& arguments, const std::vector<std::string>& argv) {
  if (const auto exercise = exercise_of(arguments.trace, arguments.experiment, arguments.more_files)) {
    refuse_options_of_experiments(arguments);
    return run_exercise(trace_of(arguments), *exercise);
  }
  if (is_meant_as_trace(arguments.experiment, arguments.trace)) {
    refuse_options_of_experiments(arguments);
    return run_trace(trace_of(arguments), argv);
  }
  refuse_options_of_traces(arguments);
  require_known_kind(arguments.experiment);
  if ((arguments.plan ? 1 : 0) + (arguments.merge ? 1 : 0) + (alone(arguments).empty() ? 0 : 1) > 1) {
    throw ConfigError("--plan, --point and --merge exclude each other; give one of them");
  }
  require_listing(arguments.counters, HasTime::yes);
  const Plan plan = plan_of(arguments);
  if (const std::string shown = shown_point(arguments); !shown.empty())
    chosen_point(shown, reported(plan));  // checks before the run that the point exists
  const int drawn = arguments.waves.empty() ? 0 : drawn_point(arguments, plan);
  if (arguments.plan) {
    print_plan(arguments, plan);
    return ExitCode::done;
  }
  RunOptions options;
  options.directory = arguments.directory.empty() ? "out/" + plan.experiment.name : arguments.directory;
  options.at_once = arguments.at_once > 0 ? arguments.at_once : available_cores();
  options.earlier = earlier_results(arguments.fresh);
  options.set_aside = tell_set_aside;
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
  Command command =
      program.subcommand("run", "Run an experiment: every point of its sweep, then merge and print", HelpGroup::runs);
  command.try_first("linebounce run two_sockets", "answer an experiment's question, and print its table");
  command.option("EXPERIMENT", "", &arguments->experiment,
                 "A name (see: linebounce list experiments), a TOML file, a program or lock in Lua, a lock in C, or a trace");
  command.option("FILES", "", &arguments->more_files, "For a trace with a file for each CPU: the other CPUs' files");
  command.option("-o,--output", "DIR", &arguments->directory, "Results directory; default: out/ and the experiment's name")
      .own_directory();
  command.option("--machine", "NAME", &arguments->machine, "Use this machine instead of the experiment's");
  command
      .option("--set", "PATH=VALUE", &arguments->sets,
              "Override a value of the experiment or its machine, or sweep it: PATH=[1,2,4]; may be repeated")
      .settings();
  command.option("--seed", "N", &arguments->seed, "Seed of each point's first run; default: the experiment's")
      .between(0, kLargestSeed);
  add_jobs(command, arguments->at_once);
  command.flag("--quiet", arguments->quiet, "Print nothing but errors");
  command
      .flag("--all", arguments->all_points, "Print the rows of every point; default: for a large sweep, only those that matter")
      .excludes({"--plan", "--quiet"});
  command.flag("--all-metrics", arguments->all_metrics, "Print every metric, by group, after the few that matter most")
      .excludes({"--plan", "--quiet"});
  command.flag("--fresh", arguments->fresh, kFreshMeaning).excludes({"--plan"});
  add_native(command, arguments->native);
  add_unchecked(command, arguments->unchecked);
  command.flag(
      "--no-family-range", arguments->no_family_range,
      "On a machine of your own: do not run the answer's alternatives again with other values of its contention family");
  command.flag("--plan", arguments->plan, "Only print the points, as JSON");
  command
      .option("--point", "P", &arguments->points,
              "A number: only run that point, without merging; may be repeated. Settings, such as lock=mcs,cpus=8: show this "
              "point's latencies, locks and lines")
      .one_value_each();
  command
      .option("--vcd", "FILE", &arguments->waves,
              "Also write waveforms of a point's first run, for GTKWave and the like: buses, links, and the costliest lines' "
              "states in each cache")
      .excludes({"--plan", "--merge"});
  command.flag("--counters", arguments->counters.counters,
               "Count for each cache what a course counts: misses, BusRdX, interventions, flushes; for machines of one bus");
  command.option("--listing", "NAME", &arguments->counters.listing,
                 "Print only these counters, in the form of a template: a name of configs/counters, or a file NAME.txt");
  command
      .option("--cost", "FORMULA", &arguments->counters.costs,
              "Also print a cost of the counters, such as \"cycles = hits*1 + c2c*20 + memory*150\"; may be repeated")
      .one_value_each();
  add_trace_options(command, arguments->trace);
  command.flag("--merge", arguments->merge, "Only merge the points that have been run");
  command.footer(kRunFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return run(*arguments, argv); });
}

}  // namespace linebounce::sim
