#include "commands/compare_locks/lock_comparer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "sim/answer/family_order.hpp"
#include "sim/answer/what_varies.hpp"
#include "sim/config/contention.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/plan/family_range.hpp"
#include "sim/plan/family_range_file.hpp"
#include "sim/plan/lock_gate.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/replay/pace_range.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/results/own_directory.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

std::vector<RecordedLock> require_locks(const trace::Reader& reader, const std::vector<trace::WordLock>& words) {
  std::vector<RecordedLock> locks = recorded_locks(reader);
  if (!locks.empty()) return locks;
  const bool has_names = std::ranges::none_of(reader.symbols().locks, [](const auto& it) { return it.counted_as().empty(); });
  std::string reason = has_names ? "it takes no lock" : "it takes no lock that has a name";
  for (const std::string& sentence : reader.summary().missing) {
    if (sentence.find("lock") != std::string::npos) reason = sentence;
  }
  if (!words.empty())
    reason = fmt::format("it takes no lock, but {} behaves like one: try --word-locks", words.front().lock.name);
  throw ConfigError(fmt::format("{}: there are no locks to compare: {}", reader.file().string(), reason));
}

// The locks that the command line names.
std::vector<RecordedLock> named(const std::vector<RecordedLock>& locks, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const RecordedLock& lock : locks) known.push_back(lock.name);
  std::vector<RecordedLock> chosen;
  for (const std::string& name : names) {
    const auto lock = std::ranges::find_if(locks, [&name](const RecordedLock& it) { return it.name == name; });
    if (lock == locks.end()) throw ConfigError("--lock: lock of the trace " + not_known(name, known));
    chosen.push_back(*lock);
  }
  return chosen;
}

// Lists the trials. The first one replaces nothing.
std::vector<LockReplacement> trials_of(const std::vector<RecordedLock>& locks,
                                       const std::vector<workloads::LockEntry>& from_files) {
  std::vector<LockReplacement> trials(1);
  for (const RecordedLock& lock : locks) {
    for (const std::string& algorithm : suitable_locks(lock)) {
      if (algorithm != lock.replayed_as) trials.push_back({lock.name, algorithm});
    }
    for (const workloads::LockEntry& entry : from_files) {
      if (suits(lock, entry)) trials.push_back({lock.name, entry.name});
    }
  }
  return trials;
}

// The locks in the files that the user gave, named by their paths.
std::vector<workloads::LockEntry> locks_of_files(const std::vector<std::string>& files, bool unchecked) {
  std::vector<workloads::LockEntry> locks;
  for (const std::string& file : files) {
    locks.push_back(load_lock_file(file));
    // For sequential consistency only; run() also checks the lock for its machine's memory model.
    if (!unchecked) refuse_if_broken(locks.back(), {Consistency::sc});
  }
  return locks;
}

class Comparer {
 public:
  Comparer(const LocksOfTrace& trace, const ComparisonLimit& limit, const std::vector<std::string>& argv)
      : arguments_(trace.arguments()),
        limit_(limit),
        locks_(require_locks(trace.reader(), words_left(trace))),
        named_(named(locks_, arguments_.locks)),
        from_files_(locks_of_files(arguments_.files, arguments_.unchecked)),
        argv_(argv),
        operations_(trace.reader().operations()),
        limits_(trace.limits()),
        summary_(trace.reader().summary()),
        own_locks_(words_that_matter(words_left(trace), locks_)),
        threads_(std::ranges::count_if(trace.reader().symbols().streams,
                                       [](const trace::Stream& stream) { return stream.vector < 0; })) {
    if (!trace.replaced()) return;
    for (const trace::WordLock& word : trace.words()) words_.emplace(word.lock.counted_as(), trace::classification(word));
  }

  // None if nothing could be compared or the study was interrupted; `code` tells which.
  std::optional<LockComparison> on(const std::string& machine, ExitCode& code) const {
    ReplayStudy study{"recorded", "The locks as recorded", machine, arguments_.trace, arguments_.sets};
    const Plan recorded = plan_of(study);
    const fs::path directory = inner_path(arguments_.directory, recorded.experiment.machine_name);
    const auto begin = std::chrono::steady_clock::now();
    const auto base = run_study(recorded, run_options(arguments_, inner_path(directory, study.name), argv_), code);
    if (!base) return std::nullopt;
    const std::chrono::duration<double> replay_s = std::chrono::steady_clock::now() - begin;
    std::vector<RecordedLock> chosen = named_.empty() ? locks_that_matter(locks_, base->front()) : named_;
    const int cpus = recorded.make_point(0).input.machine.cpus;
    std::vector<CheapLock> cheap;
    if (named_.empty()) cheap = take_out_cheap_ones(chosen, base->front(), cpus);
    if (chosen.empty()) {
      LockComparison nothing_to_try;
      nothing_to_try.cheap = std::move(cheap);
      nothing_to_try.tries_otherwise_pct = metric_of(base->front(), kTriesOtherwise);
      return told(std::move(nothing_to_try), recorded, directory);
    }
    std::vector<LockReplacement> trials = trials_of(chosen, from_files_);
    std::optional<FirstLook> look;
    if (cost_of(in_all_orders(trials.size()), base->front()) > limit_.most_instructions) {
      look.emplace();
      if (limit_.leaves_out_locks) look->locks = leave_to_thorough(chosen, base->front());
      foretell(replay_s.count(), with_first_look(chosen));
      trials = best_of(trials_of(chosen, from_files_), study, directory, *look, code);
      if (trials.empty()) return std::nullopt;
    } else {
      foretell(replay_s.count(), in_all_orders(trials.size()));
    }
    study.name = "replaced";
    study.title = "One lock at a time replaced by another";
    const auto orders = in_orders(study, {1, arguments_.orders}, trials, directory, code);
    if (!orders) return std::nullopt;
    auto comparison = ranked_locks(chosen, trials, *orders, base->front(), cpus_with_threads(cpus));
    if (!comparison && code == ExitCode::done)
      throw ConfigError(study.trace.string() + ": there is nothing to compare: the recorded operations take no time");
    if (!comparison) return std::nullopt;
    comparison->cheap = std::move(cheap);
    comparison->first_look = std::move(look);
    comparison->of_user_program = of_user_program();
    comparison->from_files = from_files_;
    // If a trial's trace could not be read, that trial might have been the best, so no other is confirmed in its place.
    const LockTrial* best = code == ExitCode::unreadable_input ? nullptr : best_gain(*comparison);
    if (best != nullptr) {
      study.title = "The best of them again, in other orders";
      if (!confirm(*comparison, *best, study, directory, code)) return std::nullopt;
      const bool gains = comparison->again && comparison->again->change.is_gain();
      if (gains && !over_family_range(*comparison, recorded, study, directory, code)) return std::nullopt;
    }
    return told(std::move(*comparison), recorded, directory);
  }

  [[nodiscard]] std::size_t replays_to_compare(double replay_s) const {
    // kMinuteOfReplays takes half a minute beside the reading and writing of results.
    constexpr double kInstructionsInASecond = kMinuteOfReplays / 30;
    std::vector<RecordedLock> likely = named_.empty() ? locks_ : named_;
    std::ranges::stable_sort(likely, std::ranges::greater{},
                             [](const RecordedLock& lock) { return lock.acquired + lock.acquired_shared; });
    likely.resize(std::min(likely.size(), kMostLocks));
    const std::size_t all = in_all_orders(trials_of(likely, from_files_).size());
    const bool is_short = static_cast<double>(all) * replay_s * kInstructionsInASecond <= limit_.most_instructions;
    return is_short ? all : with_first_look(likely);
  }

  void try_as_well(LockComparison& comparison, const LockReplacement& replacement, ExitCode& code) const {
    const auto ranking = std::ranges::find_if(comparison.locks, [&](const auto& it) { return it.lock == replacement.lock; });
    const auto is_it = [&](const LockTrial& trial) { return !trial.recorded && trial.algorithm == replacement.algorithm; };
    if (ranking == comparison.locks.end() || std::ranges::any_of(ranking->trials, is_it)) return;
    const ReplayStudy study{"replaced_elsewhere", "What gains on another machine", comparison.machine, arguments_.trace,
                            arguments_.sets};
    const auto orders = in_orders(study, {1, arguments_.orders}, {{}, replacement}, comparison.directory, code);
    if (!orders || !orders->are_enough() || !orders->finished(1)) return;
    const auto lock = std::ranges::find_if(locks_, [&](const RecordedLock& it) { return it.name == replacement.lock; });
    const int cpus = plan_of(study).make_point(0).input.machine.cpus;
    add_trial(*ranking, *lock, replacement.algorithm, *orders, cpus_with_threads(cpus));
  }

 private:
  // Replays after a first look, in which each trial ran once.
  [[nodiscard]] std::size_t with_first_look(const std::vector<RecordedLock>& locks) const {
    return trials_of(locks, from_files_).size() + in_all_orders(1 + kLeftByFirstLook * locks.size());
  }

  void foretell(double replay_s, std::size_t replays) const {
    if (arguments_.foretell) arguments_.foretell(replay_s, replays);
  }

  // Words that behave like locks but are not locks in the replayed trace.
  static std::vector<trace::WordLock> words_left(const LocksOfTrace& trace) {
    return trace.replaced() ? std::vector<trace::WordLock>() : trace.words();
  }

  static std::vector<CheapLock> take_out_cheap_ones(std::vector<RecordedLock>& locks, const ReportedPoint& recorded, int cpus) {
    std::vector<CheapLock> cheap;
    std::erase_if(locks, [&](const RecordedLock& lock) {
      const auto found = cheap_lock(lock, recorded, cpus);
      if (found) cheap.push_back(*found);
      return found.has_value();
    });
    return cheap;
  }

  // The number of replays if every trial runs in all orders. Includes confirming the best replacement: the recorded locks and
  // the best one run again, in twice as many orders.
  [[nodiscard]] std::size_t in_all_orders(std::size_t trials) const {
    constexpr std::size_t kConfirming = 4;
    return (trials + kConfirming) * static_cast<std::size_t>(arguments_.orders);
  }

  // The cost of `replays` replays in host instructions.
  [[nodiscard]] double cost_of(std::size_t replays, const ReportedPoint& recorded) const {
    return static_cast<double>(replays) * instructions_of(recorded, static_cast<double>(operations_));
  }

  // Removes locks from the end of the list until the replays fit into the limit, and returns their names. The list begins with
  // the longest waiting time. Keeps at least one lock.
  std::vector<std::string> leave_to_thorough(std::vector<RecordedLock>& locks, const ReportedPoint& recorded) const {
    std::vector<std::string> left;
    while (locks.size() > 1 && cost_of(with_first_look(locks), recorded) > limit_.most_instructions) {
      left.insert(left.begin(), locks.back().name);
      locks.pop_back();
    }
    return left;
  }

  // The first look: runs all trials in one order, and returns those worth further runs. Empty on failure; `code` tells the
  // reason.
  std::vector<LockReplacement> best_of(const std::vector<LockReplacement>& trials, ReplayStudy study, const fs::path& directory,
                                       FirstLook& look, ExitCode& code) const {
    study.name = "first_look";
    study.title = "One lock at a time replaced by another, in one order";
    const auto seen = in_orders(study, {1, 1}, trials, directory, code);
    if (!seen) return {};
    std::vector<LockReplacement> kept = left_by_first_look(trials, *seen, from_files_, of_user_program(), look);
    if (kept.empty() && code == ExitCode::done)
      throw ConfigError(study.trace.string() + ": there is nothing to compare: the recorded operations take no time");
    return kept;
  }

  [[nodiscard]] bool of_user_program() const { return summary_.recorder.starts_with(trace::kProgramRecorder); }

  // Adds facts that come from the recording and the arguments, not from replays.
  [[nodiscard]] LockComparison told(LockComparison comparison, const Plan& recorded, const fs::path& directory) const {
    comparison.machine = recorded.experiment.machine_name;
    comparison.assumptions = recorded.experiment.assumptions;
    comparison.limits = limits_;
    comparison.basis = pace_sentence(summary_, pace_range(summary_, recorded.make_point(0).input.machine.cpu, arguments_.sets));
    comparison.words = words_;
    comparison.own_locks = own_locks_;
    comparison.directory = directory;
    return comparison;
  }

  // The fraction of CPUs that run a thread. Each thread has its own CPU as long as there are enough.
  [[nodiscard]] double cpus_with_threads(int cpus) const {
    return static_cast<double>(std::min<std::ptrdiff_t>(threads_, cpus)) / cpus;
  }

  bool confirm(LockComparison& comparison, const LockTrial& best, ReplayStudy study, const fs::path& directory,
               ExitCode& code) const {
    const LockReplacement replacement{best.lock, best.algorithm};
    for (const OrderRange& range : confirming_orders(best.change, arguments_.orders)) {
      study.name = range.count == arguments_.orders ? "confirmed" : "confirmed_in_more";
      const auto others = in_orders(study, range, {{}, replacement}, directory, code);
      if (!others) return false;
      comparison.again = confirmation_of(replacement, *others);
      if (!comparison.again || !comparison.again->change.is_undecided()) break;
    }
    return !comparison.again || !comparison.again->change.is_gain() || over_pace(comparison, study, directory, code);
  }

  // Repeats a confirmed gain at both ends of the program's pace. Returns false if interrupted.
  bool over_pace(LockComparison& comparison, ReplayStudy study, const fs::path& directory, ExitCode& code) const {
    const auto range = pace_range(summary_, study);
    if (!range) return true;
    study.title = "The best of them at another pace of computation";
    std::vector<double> gains;
    for (const PaceEnd end : kPaceEnds) {
      const auto tried = in_orders(at_end(study, *range, end), {1 + arguments_.orders, 2}, {{}, comparison.again->replacement},
                                   directory, code);
      if (!tried) return false;
      if (tried->are_enough() && tried->finished(1)) gains.push_back(tried->change(1).median_pct);
    }
    if (gains.size() == 2) comparison.again->change.over_pace = GainOverPace{gains.front(), gains.back()};
    return true;
  }

  // Repeats the recorded locks and the confirmed replacement, in one order, with other values from the range of the machine's
  // contention family. Returns false if interrupted.
  bool over_family_range(LockComparison& comparison, const Plan& recorded, ReplayStudy study, const fs::path& directory,
                         ExitCode& code) const {
    if (!is_own_machine(recorded.experiment.machine_name)) return true;
    const LockReplacement& replacement = comparison.again->replacement;
    FamilyOrder order;
    order.family = std::get<std::string>(recorded.experiment.tables->settings.at(kContention).value);
    order.alternatives = {replacement.algorithm, "the recorded lock"};
    order.assumed = {RangeValue{1 + comparison.again->change.median_pct / kPercent}, RangeValue{1}};
    order.changes = family_changes(recorded.experiment);
    study.title = "The best of them over the range of the contention family";
    const std::vector<std::string> sets = study.sets;
    for (const FamilyChange& change : order.changes) {
      study.name = fmt::format("{}={}", change.path, value_name(change.other));
      study.sets = sets;
      study.sets.push_back(fmt::format("{}={}", change.path, plain_text(change.other)));
      const auto tried = in_orders(study, {1, 1}, {{}, replacement}, inner_path(directory, kFamilyRangeFolder), code);
      if (!tried && code == ExitCode::interrupted) return false;
      const bool told = tried && tried->count() > 0 && tried->finished(0) && tried->finished(1);
      order.changed.push_back(
          told ? RangeRow{RangeValue{tried->throughputs(1).front() / tried->throughputs(0).front()}, RangeValue{1}}
               : RangeRow(2));
    }
    comparison.family_range = family_order_text(order);
    return true;
  }

  static constexpr double kPercent = 100;

  // Runs all trials in each of the range's replay orders.
  std::optional<TrialsInOrders> in_orders(ReplayStudy study, const OrderRange& range,
                                          const std::vector<LockReplacement>& trials, const fs::path& directory,
                                          ExitCode& code) const {
    study.sweep = sweep_of(trials);
    repeat_in_orders(study, range.first, range.count);
    const auto points = run_study(plan_of(study), trial_options(arguments_, inner_path(directory, study.name), argv_), code);
    if (!points) return std::nullopt;
    return TrialsInOrders(*points, range.count);
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
  ComparisonLimit limit_;
  std::vector<RecordedLock> locks_, named_;
  std::vector<workloads::LockEntry> from_files_;
  const std::vector<std::string>& argv_;
  std::uint64_t operations_;
  trace::Limits limits_;
  const trace::Summary& summary_;
  std::map<std::string, std::string> words_;
  std::vector<std::string> own_locks_;
  std::ptrdiff_t threads_;
};

// Writes a copy of the trace, in which these words are locks, into `directory`.
fs::path with_locks(const trace::Reader& reader, const std::vector<trace::WordLock>& words, const fs::path& directory) {
  make_own_directory(directory);
  UnfinishedFile file(directory / "with_word_locks.lbt");
  trace::Writer writer(file.path());
  trace::copy_with_locks(reader, words, writer);
  file.finish();
  return directory / "with_word_locks.lbt";
}

}  // namespace

LocksOfTrace::LocksOfTrace(CompareArguments arguments)
    : arguments_(std::move(arguments)),
      reader_(std::make_unique<trace::Reader>(arguments_.trace)),
      words_(trace::word_locks(*reader_)),
      limits_(trace::limits_of(*reader_)),
      missing_(arguments_.word_locks ? trace::missing_beside(*reader_, words_) : reader_->summary().missing),
      replaced_(arguments_.word_locks && !words_.empty()) {
  if (!replaced_) return;
  arguments_.trace = with_locks(*reader_, words_, arguments_.directory).string();
  reader_ = std::make_unique<trace::Reader>(arguments_.trace);
}

std::optional<LockComparison> compare_locks(const LocksOfTrace& trace, const std::string& machine, const ComparisonLimit& limit,
                                            const std::vector<std::string>& argv, ExitCode& code) {
  return Comparer(trace, limit, argv).on(machine, code);
}

std::size_t replays_to_compare(const LocksOfTrace& trace, const ComparisonLimit& limit, double replay_s) {
  return Comparer(trace, limit, {}).replays_to_compare(replay_s);
}

void try_as_well(const LocksOfTrace& trace, LockComparison& comparison, const LockReplacement& replacement,
                 const std::vector<std::string>& argv, ExitCode& code) {
  Comparer(trace, {}, argv).try_as_well(comparison, replacement, code);
}

}  // namespace linebounce::sim
