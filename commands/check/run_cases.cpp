#include "commands/check/run_cases.hpp"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <limits>
#include <set>
#include <string_view>
#include <system_error>

#include "sim/results/result_files.hpp"
#include "sim/results/seed_file.hpp"
#include "sim/simulation/simulate.hpp"

namespace linebounce::sim {
namespace {

constexpr int kNone = std::numeric_limits<int>::max();

// What a case's process leaves in shared memory for its parent.
struct Left {
  std::int64_t references;
  std::uint64_t data_hash;
  bool ended;
};

// Hash of the content of the results files (FNV-1a).
std::uint64_t hash_of(PointData data) {
  data.references = 0;  // only goes into the manifest, like the members below
  data.simulated_ns = 0;
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char byte : write_seed_file({"", 0, std::move(data)})) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  }
  return hash;
}

// Number of operations of the programs, without the many loads of spins.
std::int64_t operations_in(const PointData& data) {
  return std::get<std::int64_t>(data.metrics.at("random.operations").value);
}

class CaseRunner {
 public:
  CaseRunner(const RandomBase& base, const std::vector<CaseRun>& runs, const CaseLimits& limits)
      : base_(base), runs_(runs), limits_(limits), left_(2 * runs.size()), results_(runs.size()) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      jobs_.push_back({i, false});
      if (runs[i].compared) jobs_.push_back({i, true});
    }
    waiting_for_.resize(runs.size());
    for (const Job& job : jobs_) ++waiting_for_[job.run];
  }

  std::vector<CaseResult> run(InterruptGuard& guard, const std::function<void(double)>& progress) {
    PoolCallbacks callbacks;
    callbacks.work = [this](int job, const std::function<void(double)>& report) { simulate_job(job, report); };
    callbacks.finished = [this](int job, const JobOutcome& outcome) { return ended(job, outcome); };
    callbacks.tick = [this, &progress](const std::vector<RunningJob>& running) {
      const double done = ended_ + sum_of_shares(running);
      if (progress) progress(done * static_cast<double>(runs_.size()) / static_cast<double>(jobs_.size()));
    };
    run_in_processes(static_cast<int>(jobs_.size()), limits_.at_once, guard, callbacks);
    if (!unreadable_.empty()) throw InputError(unreadable_);
    const auto unfinished = std::find_if(waiting_for_.begin(), waiting_for_.end(), [](int jobs) { return jobs > 0; });
    const std::size_t complete = unfinished - waiting_for_.begin();
    results_.resize(std::min(complete, static_cast<std::size_t>(first_bad_) + (first_bad_ == kNone ? 0 : 1)));
    return std::move(results_);
  }

 private:
  struct Job {
    std::size_t run;
    bool without_speed_ups;
  };

  // Simulates a job in its own process. SIGPROF ends it after too much processor time. Time spent waiting on a busy or stopped
  // computer does not count.
  void simulate_job(int number, const std::function<void(double)>& progress) {
    const Job& job = jobs_[number];
    if (static_cast<int>(job.run) > first_bad_) return;  // an earlier run failed, so this result would not be used
    const itimerval limit = {.it_interval = {}, .it_value = {.tv_sec = limits_.seconds, .tv_usec = 0}};
    if (::setitimer(ITIMER_PROF, &limit, nullptr) != 0) throw std::system_error(errno, std::generic_category(), "setitimer");
    SimulationInput input = input_of(base_, runs_[job.run].make());
    if (job.without_speed_ups) {
      input.engine.run_ahead = false;
      input.engine.parked_spins = false;
      input.engine.reverse_construction = true;
    }
    const PointData data = simulate(input, progress);
    left_[number] = {operations_in(data), hash_of(data), true};
  }

  bool ended(int number, const JobOutcome& outcome) {
    const Job& job = jobs_[number];
    CaseResult& result = results_[job.run];
    ++ended_;
    --waiting_for_[job.run];
    if (outcome.failure.code == ExitCode::unreadable_input) {
      unreadable_ = outcome.failure.message;
      return false;
    }
    // Without the speed-ups, every waiting CPU polls. That may take hundreds of times as long, so running out of time is no
    // failure there.
    const bool too_slow = job.without_speed_ups && outcome.signal == SIGPROF;
    if (outcome.failure.code != ExitCode::done && !too_slow && result.verdict == Verdict::passed) {
      result.verdict = outcome.failure.code == ExitCode::usage ? Verdict::refused : Verdict::failed;
      result.failure = outcome.failure;
    }
    if (!job.without_speed_ups) {
      result.references = left_[number].references;
      result.data_hash = left_[number].data_hash;
    }
    if (waiting_for_[job.run] == 0) compare(job.run);
    if (result.verdict != Verdict::passed) first_bad_ = std::min(first_bad_, static_cast<int>(job.run));
    return !all_up_to_first_bad_ended();
  }

  void compare(std::size_t run) {
    CaseResult& result = results_[run];
    if (!runs_[run].compared || result.verdict != Verdict::passed) return;
    const auto first = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.run == run; });
    const std::size_t number = first - jobs_.begin();
    if (!left_[number + 1].ended) return;
    result.compared = left_[number].data_hash == left_[number + 1].data_hash;
    if (result.compared) return;
    result.verdict = Verdict::differs;
    result.failure = {ExitCode::simulation_failed, "the engine's speed-ups change the data"};
  }

  [[nodiscard]] bool all_up_to_first_bad_ended() const {
    if (first_bad_ == kNone) return false;
    return std::all_of(waiting_for_.begin(), waiting_for_.begin() + first_bad_ + 1, [](int jobs) { return jobs == 0; });
  }

  const RandomBase& base_;
  const std::vector<CaseRun>& runs_;
  const CaseLimits& limits_;
  std::vector<Job> jobs_;   // for each run, its own job, followed by the one without speed-ups, if any
  SharedArray<Left> left_;  // by job
  std::vector<CaseResult> results_;
  std::vector<int> waiting_for_;  // by run: number of jobs that have not ended
  int first_bad_ = kNone;
  int ended_ = 0;
  std::string unreadable_;  // a file that a simulation could not read; says nothing about the machine
};

using Settings = std::vector<CaseSetting>;

constexpr std::string_view kCpus = "machine.cpus";
constexpr std::string_view kShare = "_share";
constexpr unsigned kMostSeconds = 20;  // for one try
constexpr std::uint64_t kOtherSeeds = 3;

class Shrinker {
 public:
  Shrinker(const RandomBase& base, Shrunk start, int seconds, InterruptGuard& guard)
      : base_(base),
        best_(std::move(start)),
        guard_(guard),
        deadline_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}

  Shrunk run() {
    bool smaller = true;
    while (smaller && !over()) {
      smaller = fewer_operations();
      smaller = fewer_settings() || smaller;
      smaller = fewer_cpus() || smaller;
      smaller = fewer_kinds() || smaller;
    }
    best_.finished = !over();
    return std::move(best_);
  }

 private:
  bool over() { return guard_.interrupted() || std::chrono::steady_clock::now() >= deadline_; }

  // Keeps the candidate as the smallest case if it fails in the same way as the original one.
  bool take_if_it_fails(const RandomCase& candidate) {
    if (over()) return false;
    ++best_.tries;
    const CaseRun run{[&candidate] { return candidate; }, best_.result.verdict == Verdict::differs};
    const CaseLimits limits{.at_once = 2, .seconds = kMostSeconds};
    const std::vector<CaseResult> results = run_cases(base_, {run}, limits, guard_, {});
    if (results.empty()) return false;
    const CaseResult& result = results.front();
    if (result.verdict != best_.result.verdict || result.failure.code != best_.result.failure.code) return false;
    best_.smallest = candidate;
    best_.result = result;
    return true;
  }

  // Removes half of the operations as long as the case still fails, if need be with another seed; then tries smaller and
  // smaller steps.
  bool fewer_operations() {
    bool any = false;
    for (std::int64_t step = best_.smallest.operations / 2; step > 0 && !over();) {
      RandomCase candidate = best_.smallest;
      candidate.operations -= step;
      if (candidate.operations >= 1 && fails_with_some_seed(candidate)) {
        any = true;
        step = std::min(step, best_.smallest.operations / 2);
      } else {
        step /= 2;
      }
    }
    return any;
  }

  bool fails_with_some_seed(RandomCase candidate) {
    if (take_if_it_fails(candidate)) return true;
    for (std::uint64_t seed = 1; seed <= kOtherSeeds; ++seed) {
      candidate.seed = seed;
      if (take_if_it_fails(candidate)) return true;
    }
    return false;
  }

  // Delta debugging: removes whole groups first, then single settings.
  bool fewer_settings() {
    bool any = false;
    std::set<int> groups;
    for (const CaseSetting& setting : best_.smallest.settings) groups.insert(setting.group);
    for (const int group : groups) {
      any = without([group](const CaseSetting& setting) { return setting.group == group; }) || any;
    }
    const Settings settings = best_.smallest.settings;
    for (const CaseSetting& taken : settings) {
      any = without([&taken](const CaseSetting& setting) { return setting.path == taken.path; }) || any;
    }
    return any;
  }

  // True for a setting that keeps the case small, by having fewer CPUs or leaving out a kind of operation. Such a setting
  // stays.
  [[nodiscard]] bool makes_smaller(const CaseSetting& setting) const {
    if (setting.path == kCpus) return cpus_of(base_, best_.smallest) < base_.spec.cpus;
    return setting.path.ends_with(kShare) && setting.value == ConfigValue{std::int64_t{0}};
  }

  template <class Which>
  bool without(Which which) {
    RandomCase candidate = best_.smallest;
    std::erase_if(candidate.settings, [&](const CaseSetting& setting) { return which(setting) && !makes_smaller(setting); });
    return candidate.settings.size() < best_.smallest.settings.size() && take_if_it_fails(candidate);
  }

  // Reduces CPUs. Each remaining one gets more operations, so that their total stays.
  bool fewer_cpus() {
    const int now = cpus_of(base_, best_.smallest);
    for (int cpus = 1; cpus < now && !over(); ++cpus) {
      RandomCase candidate = best_.smallest;
      candidate.set(std::string(kCpus), std::int64_t{cpus}, 0);
      candidate.operations = (candidate.operations * now + cpus - 1) / cpus;
      if (fails_with_some_seed(candidate)) return true;
    }
    return false;
  }

  // Leaves out kinds of operations that the failure does not need.
  bool fewer_kinds() {
    constexpr std::array kKinds = {"sleep",    "interrupt", "spin",   "lock",  "compute",
                                   "prefetch", "fence",     "atomic", "store", "load"};
    bool any = false;
    for (const char* const kind : kKinds) {
      const std::string path = fmt::format("workload.{}{}", kind, kShare);
      const CaseSetting* const share = best_.smallest.find(path);
      if (share && share->value == ConfigValue{std::int64_t{0}}) continue;
      RandomCase candidate = best_.smallest;
      candidate.set(path, std::int64_t{0}, share ? share->group : 0);
      any = take_if_it_fails(candidate) || any;
    }
    return any;
  }

  const RandomBase& base_;
  Shrunk best_;
  InterruptGuard& guard_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace

std::vector<CaseResult> run_cases(const RandomBase& base, const std::vector<CaseRun>& runs, const CaseLimits& limits,
                                  InterruptGuard& guard, const std::function<void(double)>& progress) {
  return CaseRunner(base, runs, limits).run(guard, progress);
}

Shrunk shrink(const RandomBase& base, const RandomCase& failing, const CaseResult& result, int seconds, InterruptGuard& guard) {
  return Shrinker(base, {failing, result, 0, false}, seconds, guard).run();
}

}  // namespace linebounce::sim
