// `linebounce compare-locks`
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/commands/commands.hpp"
#include "sim/commands/common_options.hpp"
#include "sim/commands/study_options.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/result_files.hpp"
#include "sim/studies/replay/replay_study.hpp"
#include "sim/terminal/lock_comparison_table.hpp"
#include "sim/terminal/run_report.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCompareLocksFooter = R"(
Examples:
  linebounce compare-locks program.lbt --machine p3_xeon_8way
      the locks that the program waits for, each replaced by every suitable lock
  linebounce compare-locks program.lbt --machine p3_xeon_8way --machine numaq_16way
      on two machines: another machine may favour another lock
  linebounce compare-locks program.lbt --machine mine.toml --lock table_lock --json
      one lock, on a machine of your own, for a program

A lock that handlers acquire is never replaced by one that sleeps, and a lock for readers only replaces one with readers: rcu
only where nobody writes under the lock. A recorded lock that is not in `list locks` runs as the nearest one, and the table says
so: rwlock for pthread_rwlock (std::shared_mutex), ttas for pthread_spin, mutex for the others.

Any change of a lock also changes the order in which other operations meet, and that alone changes the throughput. The
recorded order is no fair base: in it, whatever a thread waited for had always come. So the trace runs once as recorded, to
see which locks matter. Then it runs in --orders other orders, in which each acquisition and atomic operation comes a few
cycles later at random, each time with the recorded locks and with each replacement. The table has the median change and its
95 % interval (Student's t). The best of many may owe its place to these orders, so it runs again in as many others, and is
recommended if it gains at least 1 % there, too, and the interval excludes 0. More orders make narrower intervals.

Finished runs are reused: an interrupted command resumes where it stopped. A trace with more threads than the machine has CPUs
needs --set workload.threads=round_robin.)";

struct CompareArguments : StudyArguments {
  std::vector<std::string> machines, locks;
  int orders = 3;
};

std::vector<RecordedLock> require_locks(const trace::Reader& reader) {
  std::vector<RecordedLock> locks = recorded_locks(reader);
  if (!locks.empty()) return locks;
  std::string reason = "it takes no lock";
  for (const std::string& sentence : reader.summary().missing) {
    if (sentence.find("lock") != std::string::npos) reason = sentence;
  }
  throw ConfigError(fmt::format("{}: there are no locks to compare: {}", reader.file().string(), reason));
}

// Those that the command line names.
std::vector<RecordedLock> named(const std::vector<RecordedLock>& locks, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const RecordedLock& lock : locks) known.push_back(lock.name);
  std::vector<RecordedLock> chosen;
  for (const std::string& name : names) {
    const auto lock = std::find_if(locks.begin(), locks.end(), [&name](const RecordedLock& it) { return it.name == name; });
    if (lock == locks.end()) throw ConfigError("--lock: the trace's lock " + not_known(name, known));
    chosen.push_back(*lock);
  }
  return chosen;
}

// The first one replaces nothing.
std::vector<LockReplacement> trials_of(const std::vector<RecordedLock>& locks) {
  std::vector<LockReplacement> trials(1);
  for (const RecordedLock& lock : locks) {
    for (const std::string& algorithm : suitable_locks(lock)) {
      if (algorithm != lock.replayed_as) trials.push_back({lock.name, algorithm});
    }
  }
  return trials;
}

class Comparer {
 public:
  Comparer(const CompareArguments& arguments, const trace::Reader& reader, const std::vector<std::string>& argv)
      : arguments_(arguments),
        locks_(require_locks(reader)),
        named_(named(locks_, arguments.locks)),
        argv_(argv),
        unseen_atomics_(trace::has_unseen_atomics(reader.summary().missing)),
        threads_(std::count_if(reader.symbols().streams.begin(), reader.symbols().streams.end(),
                               [](const trace::Stream& stream) { return stream.vector < 0; })) {}

  // None: nothing could be compared, or it was interrupted; `code` says so.
  std::optional<LockComparison> on(const std::string& machine, ExitCode& code) const {
    ReplayStudy study{"recorded", "The locks as recorded", machine, arguments_.trace, arguments_.sets};
    const Plan recorded = plan_of(study);
    const fs::path directory = fs::path(arguments_.directory) / recorded.experiment.machine_name;
    const auto base = run_study(recorded, run_options(arguments_, directory / study.name, argv_), code);
    if (!base) return std::nullopt;
    const std::vector<RecordedLock> chosen = named_.empty() ? locks_that_matter(locks_, base->front()) : named_;
    const std::vector<LockReplacement> trials = trials_of(chosen);
    study.name = "replaced";
    study.title = "One lock at a time replaced by another";
    const auto orders = in_orders(study, 1, trials, directory, code);
    if (!orders) return std::nullopt;
    auto comparison =
        ranked_locks(chosen, trials, *orders, base->front(), cpus_with_threads(recorded.points.front().input.machine.cpus));
    if (!comparison && code == ExitCode::done)
      throw ConfigError(study.trace.string() + ": there is nothing to compare: the recorded operations take no time");
    if (!comparison) return std::nullopt;
    comparison->machine = recorded.experiment.machine_name;
    comparison->unseen_atomics = unseen_atomics_;
    comparison->directory = directory;
    if (const LockTrial* best = best_gain(*comparison); best != nullptr) {
      const LockReplacement replacement{best->lock, best->algorithm};
      study.name = "confirmed";
      study.title = "The best of them again, in other orders";
      const auto others = in_orders(study, 1 + arguments_.orders, {{}, replacement}, directory, code);
      if (!others) return std::nullopt;
      comparison->again = confirmation_of(replacement, *others);
    }
    return comparison;
  }

 private:
  // Of so many, the share. Each thread has a CPU of its own while there are enough.
  [[nodiscard]] double cpus_with_threads(int cpus) const {
    return static_cast<double>(std::min<std::ptrdiff_t>(threads_, cpus)) / cpus;
  }

  // All trials in each order, of which the first has this number.
  std::optional<TrialsInOrders> in_orders(ReplayStudy study, int first, const std::vector<LockReplacement>& trials,
                                          const fs::path& directory, ExitCode& code) const {
    study.sweep = sweep_of(trials);
    repeat_in_orders(study, first, arguments_.orders);
    const auto points = run_study(plan_of(study), run_options(arguments_, directory / study.name, argv_), code);
    if (!points) return std::nullopt;
    return TrialsInOrders(*points, arguments_.orders);
  }

  static std::vector<std::pair<std::string, toml::array>> sweep_of(const std::vector<LockReplacement>& trials) {
    std::map<std::string, toml::array> locks;
    for (const LockReplacement& trial : trials) {
      if (!trial.lock.empty()) locks.try_emplace(trial.lock);
    }
    for (const LockReplacement& trial : trials) {
      for (auto& [lock, values] : locks) values.push_back(trial.lock == lock ? trial.algorithm : "recorded");
    }
    std::vector<std::pair<std::string, toml::array>> sweep;
    for (auto& [lock, values] : locks) sweep.emplace_back("workload.locks." + lock, std::move(values));
    return sweep;
  }

  const CompareArguments& arguments_;
  std::vector<RecordedLock> locks_, named_;
  const std::vector<std::string>& argv_;
  bool unseen_atomics_;
  std::ptrdiff_t threads_;
};

void print(const std::vector<LockComparison>& machines, const std::vector<std::string>& missing) {
  const Painter paint = painter_for_stdout();
  for (const LockComparison& machine : machines) std::cout << lock_comparison_table(machine, paint) << "\n";
  if (!missing.empty()) std::cout << not_seen_text(missing, paint) << "\n";
  std::cout << "Results: " << machines.front().directory.parent_path().string() << "\n";
  for (const LockComparison& machine : machines) std::cout << advice(machine) << "\n";
}

ExitCode compare_locks(const CompareArguments& arguments, const std::vector<std::string>& argv) {
  const trace::Reader reader(arguments.trace);
  const Comparer comparer(arguments, reader, argv);
  ExitCode code = ExitCode::done;
  std::vector<LockComparison> machines;
  std::vector<std::string> names = arguments.machines;
  if (names.empty()) names.push_back(recorded_machine(reader));
  for (const std::string& machine : names) {
    if (auto comparison = comparer.on(machine, code)) machines.push_back(std::move(*comparison));
    if (code == ExitCode::interrupted) return code;
  }
  if (machines.empty()) return code;
  const std::string document = lock_comparison_json(arguments.trace, machines, reader.summary().missing).dump(1) + "\n";
  write_file(fs::path(arguments.directory) / "compare_locks.json", document);
  if (arguments.json) {
    std::cout << document;
  } else {
    print(machines, reader.summary().missing);
  }
  return code;
}

}  // namespace

void add_compare_locks(Command& program) {
  auto arguments = std::make_shared<CompareArguments>();
  Command command = program.subcommand("compare-locks", "Replay a trace with each lock replaced by every suitable one");
  command.option("--machine", "M", &arguments->machines, "Machines to run on; default: the recorded one").one_value_each();
  command.option("--lock", "NAME", &arguments->locks, "Only these locks; default: up to four with the most waiting")
      .one_value_each();
  add_orders(command, arguments->orders);
  add_study_options(command, *arguments, "out/compare_locks");
  command.footer(kCompareLocksFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return compare_locks(*arguments, argv); });
}

}  // namespace linebounce::sim
