// `linebounce trace replay`
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "forms/import_losses.hpp"
#include "sim/config/recorded_run.hpp"
#include "sim/point/config_error.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/terminal/run_report.hpp"
#include "sim/terminal/terminal.hpp"
#include "trace/reader.hpp"
#include "trace/recover.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReplayFooter = R"(Examples:
  linebounce trace replay dbench.lbt
      on the recorded machine with the recorded locks; differences from the recorded run are printed at the end
  linebounce trace replay dbench.lbt --machine numaq_16way --lock dcache_lock=mcs
      elsewhere, with one lock replaced; --lock mcs replaces all
  linebounce trace replay program.lbt --machine mine.toml --threads "0 0 1 1" -o out/folded
      four threads on two CPUs
  linebounce trace replay torn.lbt --recover
      the part before the first damage in a damaged trace

Machine and measured time default to the recorded run's. A trace that was not recorded in a simulation needs --machine, and is
measured from start to end. Threads on one CPU take turns when they wait for each other, but not while one waits for a lock that
another CPU holds. A program that waits for another thread inside a critical section may therefore hang (exit code 4); give it one
CPU per thread. The results are like those of `run`; repeating the command reads finished ones.)";

struct ReplayArguments {
  std::string file, machine, threads, directory;
  std::vector<std::string> sets, locks;
  std::optional<std::int64_t> seed;
  bool fresh = false, recover = false, quiet = false, unchecked = false;
};

// Translates --lock: "mcs" replaces all locks, "dcache_lock=mcs" one.
std::string lock_setting(const std::string& given) {
  const std::size_t equals = given.rfind('=');
  if (equals == std::string::npos) return "workload.locks.default=" + given;
  if (equals == 0 || equals + 1 == given.size())
    throw ConfigError(fmt::format("--lock {}: must be an algorithm, or NAME=ALGORITHM for one lock", given));
  return "workload.locks." + given;
}

std::string measured_setting(const toml::table& recorded, const char* path) {
  return fmt::format("{}={}", path, recorded.at_path(path).value<double>().value_or(0));
}

// Applies the options to the recorded configuration.
ReplayStudy study_of(const ReplayArguments& arguments, const trace::Reader& reader) {
  const toml::table recorded = recorded_configuration(reader.summary());
  ReplayStudy study{.name = "replay",
                    .title = "Replay of " + fs::path(arguments.file).filename().string() +
                             (is_reconstruction(reader.summary().missing) ? ", a reconstruction" : ""),
                    .machine = arguments.machine,
                    .trace = arguments.file,
                    .seed = arguments.seed};
  if (arguments.machine.empty()) {
    if (const auto* machine = recorded["machine"].as_table()) {
      study.machine_tables = *machine;
    } else {
      study.machine = recorded_machine(reader);
    }
  }
  // On another machine operations take other times, so the recorded warm-up and measured time do not fit. The whole replay is
  // measured instead.
  const bool same_machine = arguments.machine.empty() || arguments.machine == reader.summary().machine;
  if (!recorded.empty() && same_machine) {
    for (const auto* path : {"run.warmup_us", "run.measure_us"}) study.sets.push_back(measured_setting(recorded, path));
  }
  study.options = {{"workload.threads", "--threads"}, {"workload.recover", "--recover"}};
  if (!arguments.threads.empty()) study.sets.push_back(fmt::format("workload.threads=\"{}\"", arguments.threads));
  if (arguments.recover) study.sets.emplace_back("workload.recover=true");
  for (const std::string& lock : arguments.locks) {
    study.sets.push_back(lock_setting(lock));
    study.options.emplace(split_sets({study.sets.back()}).front().first, "--lock " + lock);
  }
  // A --set takes precedence.
  for (const auto& [path, value] : split_sets(arguments.sets)) study.options.erase(path);
  study.sets.insert(study.sets.end(), arguments.sets.begin(), arguments.sets.end());
  return study;
}

// How the replay differs from the recorded run. Empty if the configuration is not the recorded one; the point then has no such
// metrics.
std::string differences(const trace::Summary& recorded, const ReportedPoint& point, const Painter& paint) {
  std::string out;
  for (const auto& [source, count] : recorded.misses) {
    const auto difference = point.metrics.find(fmt::format("replay.misses.{}.difference_pct", source));
    if (difference == point.metrics.end()) continue;
    const auto replayed = static_cast<std::int64_t>(metric_of(point, fmt::format("latency.{}.count", source)));
    out += fmt::format("  {:<16}{:>14}{:>14}{:>+12.2f} %\n", source, count, replayed, metric_of(point, difference->first));
  }
  if (out.empty()) return out;
  return paint(Colour::bold, fmt::format("  {:<16}{:>14}{:>14}{:>14}", "misses", "recorded", "replayed", "difference")) + "\n" +
         out;
}

// A note that the trace ended before the measured time, and what the figures then cover.
std::string over_early(const Plan& plan, const ReportedPoint& point) {
  const RunSpec run = plan.make_point(0).input.run;
  const double over_us = metric_of(point, "replay.first_thread_over_us");
  if (run.measure_us == 0 || over_us == 0 || over_us >= run.warmup_us + run.measure_us) return {};
  return fmt::format(
      "The first thread had no operations any more after {:.4g} of {:.4g} µs: measure all of it "
      "(--set run.warmup_us=0 --set run.measure_us=0), or record for longer (trace record --for).\n",
      over_us, run.warmup_us + run.measure_us);
}

// The warning for --lock on a trace without locks.
std::string nothing_replaced(const ReplayArguments& arguments, const trace::Reader& reader) {
  if (arguments.locks.empty() || !reader.symbols().locks.empty()) return {};
  return fmt::format("--lock {} changed nothing: the trace has no locks.\n", arguments.locks.front());
}

// Each combination of machine, lock and folding gets its own folder, so that results can be compared.
fs::path default_directory(const ReplayArguments& arguments) {
  std::string name = fs::path(arguments.file).stem().string();
  if (!arguments.machine.empty()) name += "-" + fs::path(arguments.machine).stem().string();
  for (const std::string& lock : arguments.locks) name += "-" + lock;
  if (!arguments.threads.empty()) name += "-" + arguments.threads;
  std::replace_if(
      name.begin(), name.end(), [](char letter) { return letter == ' ' || letter == '/'; }, '_');
  return fs::path("out/replay") / name;
}

ExitCode replay(const ReplayArguments& arguments, const std::vector<std::string>& argv) {
  trace::Reader reader(arguments.file, {.recover = arguments.recover});
  if (arguments.recover) trace::keep_what_makes_sense(reader);
  if (!reader.damage().empty()) std::cerr << "linebounce: " << arguments.file << " is damaged:\n" << reader.damage() << "\n";
  const Plan plan = plan_of(study_of(arguments, reader));
  RunOptions options;
  options.directory = arguments.directory.empty() ? default_directory(arguments) : fs::path(arguments.directory);
  options.earlier = earlier_results(arguments.fresh);
  options.unchecked = arguments.unchecked;
  options.argv = argv;
  const RunReport report = run_with_progress(plan, options, reader.file().filename().string(), !arguments.quiet);
  print_failures(plan, report, options.directory);
  if (arguments.quiet) return report.code;
  print_report(plan, report, options.directory);
  if (report.results.points.empty()) return report.code;
  const ReportedPoint& point = report.results.points.front();
  const std::string table = differences(reader.summary(), point, painter_for_stdout());
  const std::string last = table.empty() ? over_early(plan, point) : table;
  if (!last.empty()) std::cout << "\n" << last;
  std::cout << nothing_replaced(arguments, reader);
  return report.code;
}

}  // namespace

void add_trace_replay(Command& trace) {
  auto arguments = std::make_shared<ReplayArguments>();
  Command command = trace.child("replay", "Run a trace's operations on any machine, with any locks");
  command.option("FILE", "", &arguments->file, "A trace, binary or text").required();
  command.option("--machine", "M", &arguments->machine, "The machine to run on; default: the recorded one");
  command
      .option("--lock", "[NAME=]ALGORITHM", &arguments->locks,
              "Use this algorithm for all locks, or for one; default: as recorded")
      .one_value_each();
  command.option("--threads", "MAP", &arguments->threads,
                 "Which CPUs run the threads: one_each, round_robin, block, or a list such as \"0 0 1 1\"; default: one_each");
  command.option("--set", "PATH=VALUE", &arguments->sets, "Override a value of the machine or the replay; may be repeated")
      .settings();
  command.option("--seed", "N", &arguments->seed, "Seed of the run; default: 1").between(0, kLargestSeed);
  command
      .option("-o,--output", "DIR", &arguments->directory, "Results directory; default: out/replay/TRACE[-MACHINE][-LOCK]...")
      .own_directory();
  add_unchecked(command, arguments->unchecked);
  command.flag("--fresh", arguments->fresh, kFreshMeaning);
  command.flag("--recover", arguments->recover, "Replay what comes before the first damage of each thread");
  command.flag("--quiet", arguments->quiet, "Print nothing but errors");
  command.footer(kReplayFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return replay(*arguments, argv); });
}

}  // namespace linebounce::sim
