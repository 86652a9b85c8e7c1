// `linebounce check-lock`
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "commands/check_lock/lock_check.hpp"
#include "commands/check_lock/lock_check_report.hpp"
#include "commands/check_lock/weaken.hpp"
#include "commands/check_lock/weaken_report.hpp"
#include "commands/common/command.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/schema.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/progress_line.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckLockFooter = R"(Examples:
  linebounce check-lock my_lock.lua                           a lock of your own (docs/programs.md)
  linebounce check-lock my_lock.lua --consistency tso         under one memory model only
  linebounce check-lock my_lock.lua --cpus 3 --acquisitions 2  a larger case: takes minutes, and needs --states 1000000
  linebounce check-lock my_lock.c                             a lock of your own in C or C++ (docs/lock-in-c.md)
  linebounce check-lock my_lock.c --weaken                    the weakest memory orders with which it still holds
  linebounce check-lock mcs ticket --json                     built-in locks, as JSON

Two CPUs take the lock once or twice, in all orders of their operations that the models allow: as writers, as a reader and a
writer, and with try_acquire. Three CPUs take it once, and two readers run beside two writers, as far as the limit on states
allows. A "+" marks a case that the limit cut off; its orders with up to three switches between CPUs are checked as well.
Under tso and ia64 each CPU has a store buffer that may drain at any time, under ia64 also out of order. Under c11 a load may
find an old value, and operations order what their source says (docs/check-lock.md). Orders that no CPU can tell apart count
once. A random number takes each value up to four. A look at the clock finds that no time has passed, or a second; a wait that
only the clock ends may end so at any moment.

The check proves that no CPU is inside together with a writer, that readers see consistent data, under c11 also that their
loads are ordered before what the next writer stores, that some CPU can always make progress, that try_acquire fails only with
a reason and without side effects, and that a lock with `fifo` serves CPUs in the order in which they began to wait. A
violation is shown with as few switches between CPUs as possible. Then the lock runs on random machines, where two CPUs inside
end the run.

A CPU whose loop keeps reading the same values counts as waiting until one of them changes. Locks from files go through
`check-lock --quick` before each run, replay or comparison that uses them, under the machine's memory model.

Exit code: 1 if a promise is broken under a memory model that the lock claims (traits.models; by default all) or that
--consistency names, or if not everything could be checked.)";

// Default limits on the number of states: `one` for each case, `extras` for all cases marked as extra together.
struct DefaultStates {
  std::uint64_t one, extras;
};
constexpr DefaultStates kStates{500'000, 1'000'000}, kStatesOfFile{50'000, 70'000};

struct CheckLockArguments {
  std::vector<std::string> locks;
  std::vector<std::string> consistencies;
  LockCheckOptions options;
  std::string directory = "out/check_lock";
  std::optional<std::int64_t> states;
  std::vector<std::string> machines;
  bool quick = false;
  bool json = false;
  bool weaken = false;
};

std::vector<workloads::MemoryModel> models_of(const std::vector<std::string>& names) {
  std::vector<workloads::MemoryModel> found;
  for (const std::string& name : names) {
    const std::optional<workloads::MemoryModel> model = workloads::model_named(name);
    if (!model)
      throw ConfigError(
          fmt::format("--consistency: \"{}\" is not known; known: {}", name, fmt::join(workloads::kMemoryModels, ", ")));
    if (std::ranges::find(found, *model) == found.end()) found.push_back(*model);
  }
  return found;
}

LockCheck check_one(const workloads::LockEntry& lock, const LockCheckOptions& options, bool quiet) {
  ProgressLine line("check-lock " + lock.name, !quiet);
  const auto begun = std::chrono::steady_clock::now();
  try {
    return check_lock(lock, options, [&](double share) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun;
      line.show({0, 0, share, elapsed.count()});
    });
  } catch (const std::invalid_argument& error) {
    throw ConfigError(error.what());
  }
}

// Saves the experiment of the failed trial, and returns its path; empty if none failed.
std::string keep_experiment(const workloads::LockEntry& lock, const LockCheck& check, const std::string& directory) {
  if (!check.broken_trial()) return {};
  const fs::path file = fs::path(directory) / (fs::path(lock.name).stem().string() + ".toml");
  make_own_directory(directory);
  write_file(file, check.trials.back().experiment);
  return file.string();
}

// Default machines for timing weaker memory orders. The first keeps stores in order, the second does not.
const std::vector<std::string> kTimedOn = {"generic_2socket_32core", "itanium2_two_node_16way"};

// The path of a built-in lock's file, or of the user's.
std::string file_of_lock(const std::string& name) {
  if (is_source_path(name)) return name;
  const workloads::LockEntry entry = lock_called(name);
  if (entry.file.empty())
    throw ConfigError(fmt::format("{}: --weaken is for locks in Lua or C; this one is part of the program", name));
  return (project_root() / entry.file).string();
}

ExitCode weaken_locks(const CheckLockArguments& arguments) {
  // Before the search, which takes a minute.
  for (const std::string& machine : arguments.machines) find_file(kMachineFiles, machine, "", "--machine");
  ExitCode code = ExitCode::done;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& name : arguments.locks) {
    WeakenOptions options{.models = arguments.options.models,
                          .machines = arguments.machines.empty() ? kTimedOn : arguments.machines,
                          .limits = {.states = static_cast<std::uint64_t>(arguments.states.value_or(kStatesOfFile.one))}};
    if (!arguments.consistencies.empty()) options.models = models_of(arguments.consistencies);
    ProgressLine line("weaken " + name, !arguments.json);
    options.progress = [&line](double share) { line.show({0, 0, share, 0}); };
    try {
      const std::unique_ptr<OrderedLock> lock = ordered_lock(load_lua_file(file_of_lock(name)).source);
      const Weakening found = weaken(*lock, options);
      for (const WeakenedModel& model : found.models) {
        if (!model.broken.empty() || !model.is_proved) code = ExitCode::check_failed;
      }
      if (arguments.json) {
        list.push_back(weakening_json(*lock, found));
      } else {
        std::cout << weakening_text(*lock, found, painter_for_stdout()) << std::flush;
      }
    } catch (const std::invalid_argument& error) {
      throw ConfigError(error.what());
    } catch (const NotCheckable& reason) {
      throw ConfigError(fmt::format("{}: it can't be checked: {}", name, reason.what()));
    }
  }
  if (arguments.json) std::cout << list.dump(1) << "\n";
  return code;
}

ExitCode check_locks(CheckLockArguments arguments) {
  if (arguments.weaken) return weaken_locks(arguments);
  if (arguments.quick) arguments.options.machines = 0;
  if (arguments.options.machines > 0) require_own_directory(arguments.directory);  // before minutes of search are in vain
  if (!arguments.consistencies.empty()) {
    arguments.options.models = models_of(arguments.consistencies);
    arguments.options.models_are_asked_for = true;
  }
  std::vector<workloads::LockEntry> locks;
  for (const std::string& name : arguments.locks) {
    locks.push_back(lock_called(name));
    const int most = locks.back().traits.most_cpus;
    if (most > 0 && std::max(arguments.options.cpus, 2) > most)
      throw ConfigError(fmt::format("{}: this lock is for at most {} CPUs; give --cpus {} or fewer", name, most, most));
  }
  ExitCode code = ExitCode::done;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const workloads::LockEntry& lock : locks) {
    // A Lua lock gets lower limits, because its search is slower: it needs an interpreter for each CPU and schedule.
    const DefaultStates& by_default = !lock.file.empty() ? kStatesOfFile : kStates;
    LockCheckOptions& options = arguments.options;
    options.limits.states = by_default.one;
    options.states_of_extras = by_default.extras;
    if (arguments.quick || arguments.states) {
      options.limits.states = arguments.states ? static_cast<std::uint64_t>(*arguments.states) : kQuickStates;
      options.states_of_extras.reset();
    }
    if (arguments.quick) options.limits.until = end_of_quick_check();
    const LockCheck check = check_one(lock, arguments.options, arguments.json);
    if (check.interrupted) return ExitCode::interrupted;
    const std::string experiment = keep_experiment(lock, check, arguments.directory);
    if (check.verdict() != LockVerdict::holds) code = ExitCode::check_failed;
    if (arguments.json) {
      list.push_back(lock_check_json(lock, check, experiment));
    } else {
      std::cout << lock_check_text(lock, check, experiment, painter_for_stdout()) << std::flush;
    }
  }
  if (arguments.json) std::cout << list.dump(1) << "\n";
  return code;
}

}  // namespace

void add_check_lock(Command& program) {
  auto arguments = std::make_shared<CheckLockArguments>();
  Command command = program.subcommand("check-lock", "Check a lock in the interleavings of a few CPUs, or find where it breaks",
                                       HelpGroup::checks);
  command.try_first("linebounce check-lock my_lock.lua", "try the interleavings of a few CPUs");
  command.option("LOCK", "", &arguments->locks, "A file in Lua or C, or a name (see: linebounce list locks)").required();
  command.option("--cpus", "N", &arguments->options.cpus, "2 to 4 CPUs; default: cases with 2 and with 3")
      .between(2, 4)
      .excludes({"--weaken"});
  command
      .option("--acquisitions", "N", &arguments->options.acquisitions,
              "How often each CPU takes the lock; default: cases with 1 and with 2")
      .between(1, 8)
      .excludes({"--weaken"});
  command
      .option("--consistency", "MODEL", &arguments->consistencies, "sc, tso, ia64 or c11; may be repeated; default: all four")
      .one_value_each();
  command
      .option("--states", "N", &arguments->states,
              "Stop a case after this many states; default: 500000 for the smallest cases and 1000000 for others; for a lock "
              "in Lua "
              "50000 and 70000")
      .between(1, 1'000'000'000);
  command.flag("--quick", arguments->quick, "Check few states of each case and no random machines: takes a second or two")
      .excludes({"--weaken"});
  command.option("--machines", "N", &arguments->options.machines, "Random machines; default: 12")
      .between(0, 100000)
      .excludes({"--weaken", "--quick"});
  command.option("--seed", "N", &arguments->options.seed, "Seed of the random machines; default: 1")
      .between(0, kLargestSeed)
      .excludes({"--weaken"});
  command
      .option("-o,--output", "DIR", &arguments->directory,
              "Where to write an experiment that reproduces a failure on a random machine; default: out/check_lock")
      .own_directory()
      .excludes({"--weaken"});
  command.flag("--weaken", arguments->weaken,
               "Instead of a verdict, show the weakest memory order at each place with which every check holds");
  command
      .option(
          "--machine", "M", &arguments->machines,
          fmt::format("With --weaken: machines on which weaker orders are timed; default: {}", fmt::join(kTimedOn, " and ")))
      .one_value_each()
      .belongs_to({"--weaken"});
  command.flag("--json", arguments->json, "Print one JSON array instead of text");
  command.footer(kCheckLockFooter);
  command.action([arguments] { return check_locks(*arguments); });
}

}  // namespace linebounce::sim
