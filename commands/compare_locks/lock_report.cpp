// `linebounce lock-report`
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "commands/compare_locks/lock_report_table.hpp"
#include "commands/lock/kernel_locks.hpp"
#include "evidence/paper_runs.hpp"
#include "models/text/separated.hpp"
#include "sim/config/assumed_family.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/sweep.hpp"
#include "sim/plan/family_range.hpp"
#include "sim/plan/plan.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/manifest.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/statistics/source_names.hpp"
#include "sim/terminal/machine_drawing.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockReportFooter = R"(Examples:
  linebounce lock-report ticket mcs --machines xeon_e5_2680v3_2socket,opteron_6172_4socket
  linebounce lock-report qspinlock my_lock.c --cpus 1..N
  linebounce lock-report kernel:osq --kernel /usr/src/linux-source-6.1.tar.xz --patch my.patch
      the kernel's lock before and after a patch
  linebounce lock-report ticket kernel:qspinlock --kernel ~/linux --cpus 2,4,8

Prints plain text for a patch's mail, at most 80 columns wide: the operating system's nodes, which locks see; throughput,
fairness, hand-offs and lines moved; on a machine of your own whose contention family was assumed, the change under each family
that it could be; and how well predictions of published figures have held on these machines. A lock is a name of
`linebounce list locks`, a file in Lua or C, or kernel:NAME, NAME being one of `linebounce lock --help`. The load is that of the
experiment lock_scaling.)";

constexpr std::string_view kFromKernel = "kernel:";
constexpr std::string_view kReportLoad = "lock_scaling";
const std::vector<std::string> kReportMachines = {"generic_2socket_32core"};

struct LockReportArguments {
  std::string a, b, kernel, patch, directory = "out/lock_report", cpus = "1..N";
  std::vector<std::string> machines, sets;
  int at_once = available_cores();
  bool unchecked = false;
};

bool is_from_kernel(const std::string& lock) {
  return lock.starts_with(kFromKernel);
}

// A lock's name or file, as an experiment takes it. Unpacks a kernel lock into `to`.
std::string runnable_lock(const std::string& lock, const LockReportArguments& arguments, const std::string& patch,
                          const fs::path& to) {
  if (!is_from_kernel(lock)) {
    lock_called(lock);  // throws an error with the legal names if there is no such lock
    return is_source_path(lock) ? absolute_path(lock) : lock;
  }
  if (arguments.kernel.empty()) throw ConfigError(fmt::format("{}: --kernel says where the kernel's sources are", lock));
  const fs::path unpacked =
      unpack_kernel_lock(kernel_lock_called(lock.substr(kFromKernel.size())), arguments.kernel, patch, fs::absolute(to));
  return absolute_path(unpacked);
}

// The two locks: what runs, and how the report names them.
struct Sides {
  std::string a, b, a_title, b_title;
};

Sides sides_of(const LockReportArguments& arguments) {
  const std::string& b = arguments.b.empty() ? arguments.a : arguments.b;
  if (arguments.patch.empty() && arguments.a == b) throw UsageError("name two locks, or one of the kernel and a --patch");
  if (!arguments.patch.empty() && !is_from_kernel(b))
    throw ConfigError(fmt::format("--patch changes the second lock, and {} is none of the kernel: kernel:NAME", b));
  const fs::path directory = arguments.directory;
  make_own_directory(directory);
  Sides sides{.a = runnable_lock(arguments.a, arguments, "", inner_path(directory, "A")),
              .b = runnable_lock(b, arguments, arguments.patch, inner_path(directory, "B")),
              .a_title = arguments.a,
              .b_title = b};
  const std::string from = arguments.kernel.empty() ? "" : " of " + fs::path(arguments.kernel).filename().string();
  if (is_from_kernel(arguments.a)) sides.a_title += from;
  if (is_from_kernel(b)) sides.b_title += from;
  if (!arguments.patch.empty()) sides.b_title += " with " + fs::path(arguments.patch).filename().string();
  return sides;
}

// "2,4,8" becomes the list "[2,4,8]", which is swept.
std::string swept_cpus(const std::string& cpus) {
  return is_list(cpus) ? cpus : fmt::format("[{}]", cpus);
}

// Checks that each setting has one value, which applies to both locks and all numbers of CPUs. Errors: ConfigError for a list,
// or for a path that the report itself varies.
void require_one_load(const std::vector<std::string>& sets) {
  for (const auto& [path, value] : split_sets(sets)) {
    if (path == kMachineAxis || path == "machine.cpus" || path == "workload.lock")
      throw ConfigError(fmt::format("--set {}: the report compares two locks: give A and B, --machines and --cpus", path));
    if (is_list(value)) throw ConfigError(fmt::format("--set {}: one value, since a report has one load", path));
  }
}

// `more`: settings besides the user's.
Plan plan_on(const std::string& machine, const Sides& sides, const LockReportArguments& arguments,
             const std::vector<std::string>& more = {}) {
  OverrideArguments overriding{.machine = machine, .sets = arguments.sets, .native = true};
  overriding.sets.insert(overriding.sets.end(), more.begin(), more.end());
  Overrides overrides = overrides_of(overriding);
  const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
  overrides.lists.emplace_back("workload.lock", fmt::format("[{}, {}]", quoted(sides.a), quoted(sides.b)));
  overrides.lists.emplace_back("machine.cpus", swept_cpus(arguments.cpus));
  overrides.options = {{"machine.cpus", "--cpus"}, {std::string(kMachineAxis), "--machines"}};
  return make_plan(load_unexpanded(std::string(kReportLoad), overrides));
}

LockFigure figure_of(const ReportedPoint& point, const std::string& name) {
  const auto found = point.metrics.find(name);
  if (found == point.metrics.end()) return {};
  return {as_double(found->second.value), found->second.ci95};
}

// Misses per acquisition that transferred a line, that is, without upgrades.
LockFigure lines_moved(const ReportedPoint& point, double measured_s) {
  const LockFigure rate = figure_of(point, "throughput.operations_per_s");
  if (rate.value.value_or(0) == 0) return {};
  double lines = 0;
  for (int source = 0; source < kSources; ++source) {
    if (source != static_cast<int>(Source::upgrade))
      lines += figure_of(point, fmt::format("latency.{}.count", kSourceNames[source])).value.value_or(0);
  }
  return {lines / (*rate.value * measured_s)};
}

LockMeasured measured_at(const ReportedPoint& point, double measured_s) {
  return {.acquisitions_per_s = figure_of(point, "throughput.operations_per_s"),
          .fairness_pct = figure_of(point, "fairness.jain_pct"),
          .local_handoff_ns = figure_of(point, "locks.section_lock.handoff_local_mean_ns"),
          .remote_handoff_ns = figure_of(point, "locks.section_lock.handoff_remote_mean_ns"),
          .lines_moved = lines_moved(point, measured_s)};
}

ConfigValue setting_at(const ReportedPoint& point, std::string_view path) {
  return std::ranges::find(point.at, path, [](const auto& setting) { return std::string_view(setting.first); })->second;
}

std::vector<LockPair> pairs_of(const Plan& plan, const Sides& sides, const std::vector<ReportedPoint>& points) {
  const double measured_s = plan.make_point(0).input.run.measure_us * 1e-6;
  std::vector<LockPair> pairs;
  for (const ReportedPoint& point : points) {
    const auto cpus = static_cast<int>(std::get<std::int64_t>(setting_at(point, "machine.cpus")));
    auto pair = std::ranges::find(pairs, cpus, &LockPair::cpus);
    if (pair == pairs.end()) pair = pairs.insert(pairs.end(), {.cpus = cpus, .a = {}, .b = {}});
    const bool is_a = setting_at(point, "workload.lock") == ConfigValue{sides.a};
    (is_a ? pair->a : pair->b) = measured_at(point, measured_s);
  }
  return pairs;
}

struct RunArguments {
  const Sides& sides;
  const LockReportArguments& report;
  const std::vector<std::string>& argv;
};

// Runs both locks into a directory of this name. Returns no results if none has finished, or the user has interrupted.
std::optional<std::vector<LockPair>> run_pairs(const Plan& plan, const std::string& name, const RunArguments& arguments,
                                               ExitCode& code) {
  RunOptions options;
  options.directory = inner_path(arguments.report.directory, name);
  options.at_once = arguments.report.at_once;
  options.unchecked = arguments.report.unchecked;
  options.argv = arguments.argv;
  // Always runs anew, because the configuration's hash does not cover headers and sources that a lock in C includes.
  options.earlier = EarlierResults::replaced;
  const RunReport run = run_with_progress(plan, options, name, true);
  print_failures(plan, run, options.directory);
  code = larger(code, run.code);
  if (run.code == ExitCode::interrupted || nothing_finished(run)) return std::nullopt;
  return pairs_of(plan, arguments.sides, run.results.points);
}

// Adds the verdict under each family that the machine could have, if its own was assumed. Returns false if the user interrupts.
bool add_families(LocksOnMachine& reported, const std::string& machine, const RunArguments& arguments, ExitCode& code) {
  const AssumedFamily assumed = assumed_family(read_machine_file(machine, "", "--machines"));
  if (!is_own_machine(machine) || assumed.others.empty()) return true;
  reported.family_source = assumed.source;
  reported.families.push_back({assumed.name, reported.pairs});
  for (const std::vector<std::string>& sets : assumed.others) {
    const Plan plan = plan_on(machine, arguments.sides, arguments.report, sets);
    const std::string family = sets.front().substr(sets.front().find('=') + 1);
    const auto pairs = run_pairs(plan, fmt::format("{}_as_{}", plan.experiment.machine_name, family), arguments, code);
    if (!pairs && code == ExitCode::interrupted) return false;
    if (pairs) reported.families.push_back({family, *pairs});
  }
  return true;
}

// Counts how many predictions of experiments in validation/ held when they were first run: of all predictions, and of those
// on the report's machines.
void add_predicted(LockReport& report) {
  for (const Experiment& experiment : experiments_with_rows([](const auto& name) { return name.starts_with("validation/"); })) {
    const auto first = read_first_runs(record_file(experiment.name));
    for (const PaperRow& row : experiment.paper) {
      const auto found = first.find(row.id);
      if (row.kind != PaperKind::predicted || found == first.end() || !found->second.is_first) continue;
      PaperResult published;
      published.row = row;
      const std::string its_machine = machine_of_row(row, experiment);
      const PaperResult result = at_first_run({experiment.name, its_machine, experiment.family, published, found->second});
      count(report.predicted, result);
      for (LocksOnMachine& machine : report.machines) {
        if (machine.name != its_machine) continue;
        count(machine.predicted, result);
        if (experiment.family == "lock") count(machine.predicted_locks, result);
      }
    }
  }
}

std::vector<std::string> named_machines(const std::vector<std::string>& given) {
  std::vector<std::string> machines;
  for (const std::string& word : given) {
    for (const std::string_view machine : separated(word, ',')) {
      if (!machine.empty()) machines.emplace_back(machine);
    }
  }
  return machines.empty() ? kReportMachines : machines;
}

std::string load_text(const Plan& plan, const std::vector<std::string>& sets) {
  const SimulationInput input = plan.make_point(0).input;
  return fmt::format(
             "Load: the experiment {}; all CPUs take one lock, write a line that it protects, and compute outside. {} of {} us "
             "each.",
             kReportLoad, plan.experiment.seeds == 1 ? "1 run" : fmt::format("{} runs", plan.experiment.seeds),
             input.run.measure_us) +
         (sets.empty() ? "" : fmt::format(" Changed: {}.", fmt::join(sets, ", ")));
}

ExitCode lock_report(const LockReportArguments& arguments, const std::vector<std::string>& argv) {
  require_one_load(arguments.sets);
  const Sides sides = sides_of(arguments);
  LockReport report;
  report.a = sides.a_title;
  report.b = sides.b_title;
  report.program = fmt::format("linebounce {} ({})", program_version(), program_commit());
  ExitCode code = ExitCode::done;
  for (const std::string& machine : named_machines(arguments.machines)) {
    const Plan plan = plan_on(machine, sides, arguments);
    const RunArguments running{.sides = sides, .report = arguments, .argv = argv};
    const auto pairs = run_pairs(plan, plan.experiment.machine_name, running, code);
    if (!pairs) return code;
    if (report.load.empty()) report.load = load_text(plan, arguments.sets);
    LocksOnMachine& reported = report.machines.emplace_back();
    reported.name = plan.experiment.machine_name;
    reported.title = load_machine(machine).spec.title;
    reported.os_nodes = os_nodes_text(plan.make_point(static_cast<int>(plan.points.size()) - 1).input.machine);
    reported.pairs = *pairs;
    if (!add_families(reported, machine, running, code)) return code;
  }
  add_predicted(report);
  std::cout << lock_report_text(report);
  return code;
}

}  // namespace

void add_lock_report(Command& program) {
  auto arguments = std::make_shared<LockReportArguments>();
  Command command = program.subcommand("lock-report", "Print a table of two locks for a patch's mail", HelpGroup::checks);
  command.option("A", "", &arguments->a, "A lock: a shipped one's name, a file in Lua or C, or kernel:NAME").required();
  command.option("B", "", &arguments->b, "The lock to compare with it; default: A with the patch");
  command
      .option("--machines", "M,...", &arguments->machines,
              fmt::format("Names or files of machines; default: {}", kReportMachines.front()))
      .one_value_each();
  command.option("--cpus", "LIST", &arguments->cpus,
                 "Numbers of CPUs, such as 2,4,8; default: 1..N, powers of two and all of the machine's");
  command.option("--kernel", "PATH", &arguments->kernel, "The kernel's sources: a folder, or an archive such as Debian's");
  command.option("--patch", "FILE", &arguments->patch, "Apply this patch to the sources of the second lock");
  command
      .option("--set", "PATH=VALUE", &arguments->sets, "Change the load or the machines, such as workload.outside_cycles=500")
      .settings();
  command.option("-o,--output", "DIR", &arguments->directory, "Folder for the results; default: out/lock_report")
      .own_directory();
  add_jobs(command, arguments->at_once);
  add_unchecked(command, arguments->unchecked);
  command.footer(kLockReportFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return lock_report(*arguments, argv); });
}

}  // namespace linebounce::sim
