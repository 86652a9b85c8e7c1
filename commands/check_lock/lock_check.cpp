#include "commands/check_lock/lock_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/check/mutation.hpp"
#include "sim/config/load_experiment.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/project_files.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/result_files.hpp"
#include "sim/simulation/simulate.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::sim {

using workloads::Readers;

namespace {

using workloads::LockEntry;
using workloads::MemoryModel;
using workloads::Random;
constexpr std::uint64_t kFewestStates = 1000;  // for an extra case
constexpr int kMostCpusOfTrial = 6;            // most CPUs of a trial of a lock that works only up to a number of CPUs

SimulationInput input_of(const MachineTrial& trial) {
  Overrides overrides;
  overrides.native = true;  // the user named the lock, so it may be compiled and run
  return point_maker(read_unexpanded(trial.experiment, "random machine", overrides))(0).input;
}

// In the workload critical_section, writers and readers check that they see consistent data.
std::string trial_text(const LockEntry& lock, const RandomBase& base, const RandomCase& changed, Random& random) {
  const bool has_readers = lock.traits.readers != Readers::one_by_one && random.below(2) == 0;
  const std::uint64_t read_pct = has_readers ? 50 + random.below(45) : 0;
  const std::uint64_t data_lines = 1 + random.below(3);
  const std::uint64_t inside_cycles = 10 * random.below(20);
  const std::uint64_t outside_cycles = 50 * random.below(20);
  const std::string name = is_source_path(lock.name) ? absolute_path(lock.name) : lock.name;
  std::string text = fmt::format(
      "name    = \"check_lock\"\ntitle   = \"A lock on a random machine\"\nmachine = \"{}\"\nseed    = {}\n\n[workload]\n"
      "name           = \"critical_section\"\ndata_lines     = {}\ninside_cycles  = {}\n"
      "outside_cycles = {}\nread_pct       = {}\n\n[run]\nwarmup_us  = 0\nmeasure_us = 40\n\n[set]\n",
      base.machine, changed.seed, data_lines, inside_cycles, outside_cycles, read_pct);
  text += setting_line("workload.lock", name);
  for (const CaseSetting& setting : changed.settings) {
    if (setting.path.starts_with("machine.")) text += setting_line(setting.path, setting.value);
  }
  return text;
}

// None if this random machine can't be built, or has too few CPUs.
std::optional<MachineTrial> random_trial(const LockEntry& lock, const std::string& machine, std::uint64_t seed, int round) {
  try {
    const RandomBase base = random_base(machine, {});
    RandomCase changed = random_case(base, seed, round, 1);
    Random random(seed, static_cast<std::uint64_t>(round), 0);
    if (const int most = std::min(lock.traits.most_cpus, kMostCpusOfTrial); most > 0) {
      const std::uint64_t more = random.below(static_cast<std::uint64_t>(most - 1));
      changed.set("machine.cpus", 2 + static_cast<std::int64_t>(more), 0);
    }
    MachineTrial trial;
    trial.machine = machine;
    trial.experiment = trial_text(lock, base, changed, random);
    const MachineSpec spec = input_of(trial).machine;
    trial.cpus = spec.cpus;
    trial.consistency = spec.cpu.consistency;
    return trial;
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

}  // namespace

const CheckedCase* LockCheck::broken_under(MemoryModel model) const {
  for (const CheckedCase& one : cases) {
    if (one.lock_case.model == model && !one.result.violation.empty()) return &one;
  }
  return nullptr;
}

const CheckedCase* LockCheck::broken_case() const {
  for (const MemoryModel model : models) {
    if (const CheckedCase* const broken = broken_under(model); broken != nullptr && claims(model)) return broken;
  }
  return nullptr;
}

bool LockCheck::is_complete_under(MemoryModel model) const {
  return std::ranges::all_of(cases, [model](const CheckedCase& one) {
    return one.lock_case.model != model || one.lock_case.is_extra || one.result.is_complete();
  });
}

LockVerdict LockCheck::verdict() const {
  if (!not_checkable.empty()) return LockVerdict::not_checkable;
  if (broken_case() != nullptr || broken_trial()) return LockVerdict::broken;
  const bool all = std::ranges::all_of(models, [this](MemoryModel model) {
    return !claims(model) || is_complete_under(model) || broken_under(model) != nullptr;
  });
  return all && !cases.empty() ? LockVerdict::holds : LockVerdict::incomplete;
}

bool LockCheck::all_ran() const {
  return std::ranges::all_of(operations, [](const workloads::LockOperation& one) { return one.ran; });
}

namespace {

// Errors: NotCheckable.
void search_cases(LockCheck& check, const std::vector<LockCase>& cases, const LockCheckOptions& options,
                  const std::function<void(double)>& progress) {
  const auto parts = static_cast<double>(cases.size() + 1);
  std::optional<std::uint64_t> left = options.states_of_extras;
  double done = 0;
  for (const LockCase& one : cases) {
    progress(done++ / parts);
    if (check.broken_under(one.model) != nullptr) continue;
    SearchLimits limits = options.limits;
    if (left && one.is_extra) limits.states = std::min(limits.states, std::max(*left / 3, kFewestStates));
    check.cases.push_back({one, search(one, limits)});
    if (left && one.is_extra) *left -= std::min(*left, check.cases.back().result.states);
    const bool is_broken = !check.cases.back().result.violation.empty();
    if (is_broken && one.model == MemoryModel::sc) return;
  }
}

}  // namespace

LockCheck check_lock(const workloads::LockEntry& lock, const LockCheckOptions& options,
                     const std::function<void(double)>& progress) {
  LockCheck check;
  if (!lock.traits.excludes) {
    check.not_checkable = "it promises nothing: it excludes nobody";
    return check;
  }
  check.models = options.models;
  std::ranges::sort(check.models);
  check.claimed = lock.traits.models;
  if (options.models_are_asked_for) {
    for (const MemoryModel model : check.models) check.claimed |= 1U << static_cast<unsigned>(model);
  }
  std::vector<LockCase> cases = lock_cases(lock, options);
  std::set<int> ran;
  for (LockCase& one : cases) one.ran = &ran;
  try {
    search_cases(check, cases, options, progress);
  } catch (const NotCheckable& reason) {
    check.not_checkable = reason.what();
    return check;
  }
  for (CheckedCase& one : check.cases) one.lock_case.ran = nullptr, one.lock_case.cells = nullptr;
  if (lock.operations) check.operations = lock.operations();
  for (workloads::LockOperation& one : check.operations) one.ran = one.ran || ran.contains(one.number);
  if (check.broken_case() != nullptr) return check;
  InterruptGuard guard;
  TrialOptions trials = {.consistencies = {}, .seed = options.seed, .count = options.machines};
  for (const MemoryModel model : check.models) {
    if (model != MemoryModel::c11 && check.claims(model)) trials.consistencies.push_back(machine_model(model));
  }
  check.trials = try_on_machines(
      lock, trials, guard, [&, all = static_cast<double>(cases.size())](double share) { progress((all + share) / (all + 1)); });
  check.interrupted = guard.interrupted();
  return check;
}

std::vector<MachineTrial> try_on_machines(const LockEntry& lock, const TrialOptions& options, InterruptGuard& guard,
                                          const std::function<void(double)>& progress) {
  const std::vector<std::string> machines = file_names(kMachineFiles);
  std::vector<MachineTrial> trials;
  if (options.consistencies.empty()) return trials;
  for (int round = 0; static_cast<int>(trials.size()) < options.count && round < 20 * options.count && !guard.interrupted();
       ++round) {
    const std::string& machine = machines[round % machines.size()];
    std::optional<MachineTrial> trial = random_trial(lock, machine, options.seed, round);
    const auto& models = options.consistencies;
    if (trial && std::ranges::find(models, trial->consistency) != models.end()) trials.push_back(std::move(*trial));
  }
  const auto at = [&](int job) -> MachineTrial& { return trials[job]; };
  int ended = 0;
  std::string unreadable;  // a file that a trial can't read; such a trial says nothing about the lock
  PoolCallbacks callbacks;
  callbacks.work = [&](int job, const std::function<void(double)>& report) { simulate(input_of(at(job)), report); };
  callbacks.finished = [&](int job, const JobOutcome& outcome) {
    if (outcome.failure.code == ExitCode::unreadable_input) unreadable = outcome.failure.message;
    at(job).failure = outcome.failure.message;
    ++ended;
    return outcome.failure.code == ExitCode::done;
  };
  callbacks.tick = [&](const std::vector<RunningJob>& running) {
    progress((ended + sum_of_shares(running)) / static_cast<double>(trials.size()));
  };
  // Runs one trial at a time, so that the first failure is always the same one.
  run_in_processes(static_cast<int>(trials.size()), 1, guard, callbacks);
  if (!unreadable.empty()) throw InputError(unreadable);
  trials.resize(ended);
  return trials;
}

}  // namespace linebounce::sim
