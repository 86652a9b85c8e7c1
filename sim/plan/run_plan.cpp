#include "sim/plan/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "sim/plan/foretold_time.hpp"
#include "sim/plan/lock_gate.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/plan/point_costs.hpp"
#include "sim/plan/point_files.hpp"
#include "sim/plan/process_pool.hpp"
#include "sim/plan/telling_points.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "trace/check.hpp"
#include "trace/recover.hpp"

namespace linebounce::sim {
namespace {

// Reads each trace once, so that damage is found before the run. With workload.recover, a trace needs only some intact
// operations. Errors: trace::TraceError.
void check_traces(const Plan& plan) {
  for (const auto& [file, sound] : plan.traces) {
    trace::Reader reader(file, {.recover = !sound});
    if (!sound) trace::keep_what_makes_sense(reader);
    if (reader.operations() == 0) throw trace::TraceError(fmt::format("{}: there is no operation to replay", file));
    if (sound) trace::check(reader);
  }
}

void check_files(const Plan& plan, const RunOptions& options) {
  if (!options.unchecked) refuse_broken_locks(plan);
  check_traces(plan);
}

namespace fs = std::filesystem;

// One simulation: one seed of one point.
struct Job {
  int point = 0;
  std::uint64_t seed = 0;
};

// The progress of a point in this run.
struct PointState {
  int jobs_left = 0;
  bool done = false;
  bool failed = false;
  std::int64_t peak_memory_kib = 0;
};

// The state of a run: the jobs, and what is known about each point.
class Run {
 public:
  Run(const Plan& plan, const RunOptions& options, InterruptGuard& guard)
      : plan_(plan),
        options_(options),
        guard_(guard),
        started_at_(utc_now()),
        started_(std::chrono::steady_clock::now()),
        states_(plan.points.size()),
        costs_(plan.points),
        next_answer_s_(options.first_answer_s) {}

  // Finds results of earlier runs, and makes jobs for everything else.
  void take_stock(const std::vector<int>& points) {
    for (const int number : points) {
      PointState& state = states_[number];
      const fs::path directory = directory_of(number);
      const PointFiles found = look_at_point(directory, plan_.hashes[number]);
      state.done = found.done;
      if (state.done) {
        note_reuse(*found.manifest);
        remove_seeds(directory);
        continue;
      }
      if (!found.damage.empty()) report.damaged.push_back({number, found.damage});
      add_jobs(number, directory);
    }
  }

  // Says how long the run takes, if that is long and the points tell.
  void foretell() {
    if (!options_.foretell) return;
    std::vector<ComingJob> coming;
    coming.reserve(jobs_.size());
    for (const Job& job : jobs_) coming.push_back({&plan_, job.point});
    if (const auto seconds = foretold_seconds(coming, options_.simulation, options_.at_once, guard_)) tell(*seconds);
  }

  // Runs the jobs. Returns false if interrupted.
  bool work() {
    work_began_ = elapsed();
    for (const int number : wanted_) make_point_directory(options_.directory, plan_.swept(), number);
    for (const int number : wanted_) {
      if (states_[number].jobs_left == 0) finish(number);  // all its seeds were already done
    }
    PoolCallbacks callbacks;
    callbacks.work = [this](int job, const std::function<void(double)>& progress) {
      const Job& of = jobs_[job];
      simulate_seed(options_.simulation, plan_, of.point, of.seed, directory_of(of.point), progress);
    };
    callbacks.finished = [this](int job, const JobOutcome& outcome) { return job_ended(job, outcome); };
    callbacks.tick = [this](const std::vector<RunningJob>& running) { report_progress(running); };
    try {
      run_in_processes(static_cast<int>(jobs_.size()), options_.at_once, guard_, callbacks);
    } catch (...) {
      forget_unfinished();
      throw;
    }
    forget_unfinished();
    return !guard_.interrupted();
  }

  // The parts of the manifest that only this process knows: argv and times.
  [[nodiscard]] Manifest manifest() const {
    Manifest manifest;
    manifest.argv = options_.argv;
    manifest.started = started_at_;
    manifest.wall_s = elapsed();
    return manifest;
  }

  RunReport report;
  [[nodiscard]] bool nothing_to_do() const { return jobs_.empty() && wanted_.empty(); }
  // Points that were not done at the start.
  [[nodiscard]] const std::vector<int>& wanted() const { return wanted_; }
  [[nodiscard]] const std::string& stopped_by() const { return stopped_by_; }
  [[nodiscard]] const FinishedPoints& finished() const { return finished_; }

 private:
  [[nodiscard]] fs::path directory_of(int point) const { return point_directory(options_.directory, plan_.swept(), point); }

  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }

  void note_reuse(const EarlierManifest& manifest) {
    ++report.reused;
    if (manifest.commit != program_commit()) report.reused_commit = manifest.commit;
  }

  void add_jobs(int number, const fs::path& directory) {
    wanted_.push_back(number);
    for (int i = 0; i < plan_.experiment.seeds; ++i) {
      const std::uint64_t seed = plan_.experiment.seed + static_cast<std::uint64_t>(i);
      if (seed_is_done(plan_, number, seed, directory)) continue;
      jobs_.push_back({number, seed});
      ++states_[number].jobs_left;
    }
  }

  // Returns false to stop the run. A file that can't be written does that, because no other can be written either.
  bool job_ended(int job, const JobOutcome& outcome) {
    const int number = jobs_[job].point;
    PointState& state = states_[number];
    state.peak_memory_kib = std::max(state.peak_memory_kib, outcome.peak_memory_kib);
    --state.jobs_left;
    ++jobs_ended_;
    costs_.add(number, outcome.cpu_s);
    cpu_s_ += outcome.cpu_s;
    if (outcome.failure.code == ExitCode::usage) {
      stopped_by_ = outcome.failure.message;
      return false;
    }
    if (outcome.failure.code != ExitCode::done) {
      fail(number, outcome.failure);
    } else if (state.jobs_left == 0 && !state.failed) {
      finish(number);
    }
    return true;
  }

  // Removes temporary files of stopped processes.
  void forget_unfinished() const {
    if (jobs_ended_ == static_cast<int>(jobs_.size())) return;
    for (const int number : wanted_) {
      try {
        remove_temporaries(directory_of(number));
      } catch (const OutputError&) {
        // This failure must not hide the run's own. The next run removes the files.
      }
    }
  }

  void fail(int number, const Failure& failure) {
    PointState& state = states_[number];
    if (state.failed) return;  // another seed of the point has failed; one report is enough
    state.failed = true;
    report.failures.push_back({number, failure});
    report.code = larger(report.code, failure.code);
    const std::string reason = failure.message.substr(0, failure.message.find('\n'));
    Manifest of_point = manifest();
    of_point.peak_memory_kib = state.peak_memory_kib;
    write_failed_point(plan_, {number, static_cast<int>(failure.code), reason}, directory_of(number), of_point);
  }

  void finish(int number) {
    PointState& state = states_[number];
    Manifest of_point = manifest();
    of_point.peak_memory_kib = state.peak_memory_kib;
    finished_.emplace(number, finish_point(plan_, number, directory_of(number), of_point));
    state.done = true;
  }

  void report_progress(const std::vector<RunningJob>& running) {
    if (options_.foretell && !foretold_) foretell_from(share_done(running));
    if (!options_.progress) return;
    const auto done = std::ranges::count_if(states_, [](const PointState& state) { return state.done; });
    options_.progress(
        {static_cast<int>(states_.size()), static_cast<int>(done), share_done(running), elapsed() - work_began_, news()});
  }

  // What no beginning of a point could tell, the first seconds of the run do.
  void foretell_from(double share) {
    constexpr double kTooEarly = 3;  // seconds
    constexpr double kLeastShare = 0.01;
    const double so_far = elapsed() - work_began_;
    if (so_far >= kTooEarly && share >= kLeastShare && so_far / share >= kWorthForetelling) tell(so_far / share);
  }

  void tell(double seconds) {
    foretold_ = true;
    options_.foretell(wanted_.size(), seconds);
  }

  // The finished share of the run's CPU time. Jobs start in order, so those after the running ones have not started.
  double share_done(const std::vector<RunningJob>& running) {
    double done = cpu_s_;
    double all = cpu_s_;
    for (const RunningJob& job : running) {
      const double expected = costs_.expected(jobs_[job.job].point);
      done += job.share * expected;
      all += expected;
    }
    for (std::size_t job = jobs_ended_ + running.size(); job < jobs_.size(); ++job) all += costs_.expected(jobs_[job].point);
    return all > 0 ? done / all : 1;
  }

  // The answer so far, from finished points; empty if it is not time to show it or it is the same as before.
  std::string news() {
    if (!plan_.swept() || elapsed() < next_answer_s_) return "";
    next_answer_s_ *= 2;
    try {
      std::string text = merge_points(plan_, options_.directory, finished_).results.answer.text;
      if (text == told_) return "";
      told_ = text;
      return text;
    } catch (const InputError&) {
      return "";  // the merge reports an unreadable file
    }
  }

  const Plan& plan_;
  const RunOptions& options_;
  InterruptGuard& guard_;
  std::string started_at_;
  std::chrono::steady_clock::time_point started_;
  std::vector<PointState> states_;
  std::vector<int> wanted_;  // points that were not done at the start
  std::vector<Job> jobs_;
  int jobs_ended_ = 0;
  PointCosts costs_;
  FinishedPoints finished_;
  double cpu_s_ = 0;  // total CPU time of the jobs that have ended
  double next_answer_s_;
  double work_began_ = 0;  // seconds after started_
  bool foretold_ = false;
  std::string told_;
  std::string stopped_by_;
};

std::vector<int> all_points(const Plan& plan) {
  std::vector<int> numbers;
  for (const PointPlace& point : plan.points) numbers.push_back(point.number);
  return numbers;
}

// Writes the manifest before any other file. It marks the directory as ours and names the configuration. Until the run ends it
// says "interrupted", which remains true if this process is killed.
void claim(const Plan& plan, Manifest manifest, const fs::path& directory) {
  manifest.hash = plan.hash;
  manifest.seed = plan.experiment.seed;
  manifest.seeds = plan.experiment.seeds;
  manifest.points = static_cast<int>(plan.points.size());
  manifest.status = RunStatus::interrupted;
  replace_file(directory / "manifest.json", manifest_text(manifest));
  leave_mark_to_manifest(directory);
}

// Removes a directory's results, or sets them aside, if they are not to be used.
void clear(const fs::path& directory, const RunOptions& options) {
  if (options.earlier == EarlierResults::used) return;
  if (options.earlier == EarlierResults::replaced || !holds_results(directory)) return remove_results(directory);
  const fs::path kept = set_aside_results(directory);
  if (options.set_aside) options.set_aside(directory, kept);
}

void make_ready(const Plan& plan, const RunOptions& options) {
  const auto earlier = manifest_in(options.directory);
  // A run that finished nothing must not block the directory for another configuration. Its files are removed.
  const bool came_to_nothing = earlier && earlier->hash != plan.hash && !holds_results(options.directory);
  if (came_to_nothing) {
    remove_results(options.directory);
  } else if (earlier) {
    clear(options.directory, options);
  }
  check_directory(options.directory, plan);
  remove_temporaries(options.directory);
}

// Results of another configuration make way even if only one point is to run.
void make_way(const Plan& plan, const RunOptions& options) {
  const auto earlier = manifest_in(options.directory);
  if (!earlier || earlier->hash == plan.hash) return;
  const DirectoryLock lock(options.directory, LockKind::alone);
  clear(options.directory, options);
}

// Whether all points have ended.
enum class Points { all, some };

// Throws if a point's files are missing or changed after its run, for example on a broken disk: results without it must not
// count as complete. REQUIRES: all points have ended. Errors: InputError.
void require_all(const Merged& merged, const fs::path& directory) {
  if (merged.missing.empty()) return;
  if (!merged.damaged.empty()) throw InputError(merged.damaged.front().reason);
  throw InputError(point_directory(directory, true, merged.missing.front()).string() + ": disappeared during the run");
}

// Merges the points, writes the files of the directory itself and its manifest, and fills in the report.
void conclude(const Plan& plan, const RunOptions& options, Run& run, Points points) {
  Merged merged = merge_points(plan, options.directory, run.finished());
  if (points == Points::all) require_all(merged, options.directory);
  const bool written = !plan.swept() && !run.finished().empty();  // the only point's files are the directory's
  if (!written) write_merged(plan, merged, options.directory);
  if (!plan.swept() && merged.manifest.status == RunStatus::complete) merged.manifest.files = records_of(options.directory);
  const Manifest known = run.manifest();
  RunReport& report = run.report;
  merged.manifest.argv = known.argv;
  merged.manifest.started = known.started;
  merged.manifest.wall_s = known.wall_s;
  replace_file(options.directory / "manifest.json", manifest_text(merged.manifest));
  for (const FailedPoint& failed : merged.manifest.failed_points) {
    const bool reported =
        std::ranges::any_of(report.failures, [&](const PointFailure& failure) { return failure.point == failed.point; });
    const Failure failure{static_cast<ExitCode>(failed.exit_code), failed.reason};
    if (!reported) report.failures.push_back({failed.point, failure});  // it failed earlier, in the process that ran it
    report.code = larger(report.code, failure.code);
  }
  report.results = std::move(merged.results);
  report.missing = std::move(merged.missing);
  report.damaged.insert(report.damaged.end(), merged.damaged.begin(), merged.damaged.end());
}

// Shows results that are already complete. Writes their files again, because the paper rows may have changed since.
void show_again(const Plan& plan, const fs::path& directory, RunReport& report) {
  Merged merged = merge_points(plan, directory);
  require_all(merged, directory);
  write_merged(plan, merged, directory);
  if (!plan.swept()) {
    const fs::path manifest = directory / "manifest.json";
    write_if_changed(manifest, with_files(read_file(manifest), records_of(directory)));
  }
  report.results = std::move(merged.results);
}

}  // namespace

RunReport run_plan(const Plan& plan, const RunOptions& options) {
  InterruptGuard guard;  // until our temporary files are removed, an interrupt must not end the process
  if (!options.root.empty()) make_own_directory(options.root);
  make_results_directory(options.directory);
  const DirectoryLock lock(options.directory, LockKind::alone);
  make_ready(plan, options);
  const auto earlier = manifest_in(options.directory);
  Run run(plan, options, guard);
  run.take_stock(all_points(plan));
  if (run.nothing_to_do() && earlier && earlier->status == RunStatus::complete) {
    show_again(plan, options.directory, run.report);
    return run.report;
  }
  if (!run.wanted().empty()) {
    check_files(plan, options);
    if (plan.swept()) check_points(plan, run.wanted(), options.at_once, guard);
    run.foretell();
  }
  claim(plan, run.manifest(), options.directory);
  const bool uninterrupted = run.work();
  if (!run.stopped_by().empty()) {
    if (!holds_results(options.directory)) remove_results(options.directory);  // free for the corrected command
    throw OutputError(run.stopped_by());
  }
  conclude(plan, options, run, uninterrupted ? Points::all : Points::some);
  if (!uninterrupted) run.report.code = larger(run.report.code, ExitCode::interrupted);
  return run.report;
}

RunReport run_one_point(const Plan& plan, int point, const RunOptions& options) {
  InterruptGuard guard;  // until our files are complete, an interrupt must not end the process
  make_results_directory(options.directory);
  make_way(plan, options);
  const DirectoryLock lock(options.directory, plan.swept() ? LockKind::one_point : LockKind::alone);
  check_directory(options.directory, plan);
  Run run(plan, options, guard);
  if (!manifest_in(options.directory)) claim(plan, run.manifest(), options.directory);
  const fs::path directory = point_directory(options.directory, plan.swept(), point);
  make_point_directory(options.directory, plan.swept(), point);
  std::optional<DirectoryLock> point_lock;
  if (plan.swept()) point_lock.emplace(directory, LockKind::alone);
  clear(directory, options);
  run.take_stock({point});
  if (!run.wanted().empty()) check_files(plan, options);
  const bool uninterrupted = run.work();
  if (!run.stopped_by().empty()) throw OutputError(run.stopped_by());
  if (!uninterrupted) run.report.code = larger(run.report.code, ExitCode::interrupted);
  return run.report;
}

std::vector<int> done_points(const Plan& plan, const fs::path& directory) {
  check_directory(directory, plan);
  std::vector<int> done;
  for (const PointPlace& point : plan.points) {
    const PointFiles found = look_at_point(point_directory(directory, plan.swept(), point.number), plan.hashes[point.number]);
    if (found.done) done.push_back(point.number);
  }
  return done;
}

RunReport merge_plan(const Plan& plan, const RunOptions& options) {
  if (!is_there(options.directory)) {
    throw InputError(options.directory.string() +
                     ": there is no such directory; --merge needs points that have been run (--point N)");
  }
  InterruptGuard guard;
  const DirectoryLock lock(options.directory, LockKind::alone);
  make_ready(plan, options);
  Run run(plan, options, guard);
  conclude(plan, options, run, Points::some);
  RunReport& report = run.report;
  if (!report.missing.empty()) report.code = larger(report.code, ExitCode::unreadable_input);
  return report;
}

}  // namespace linebounce::sim
