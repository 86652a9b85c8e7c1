#include "sim/studies/compare_locks/lock_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/studies/replay/replay_study.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

constexpr std::size_t kMostLocks = 4;
// The best of a dozen locks has a dozen orders to be lucky in, the recorded ones were seen in five.
constexpr double kOrders = 2;

LockTrial trial_of(const RecordedLock& lock, const std::string& algorithm, const ReportedPoint& point,
                   const ReportedPoint& base) {
  LockTrial trial;
  trial.lock = lock.name;
  trial.algorithm = algorithm;
  trial.recorded = &point == &base;
  trial.throughput_per_s = metric_of(point, kThroughput);
  trial.change_pct = throughput_change_pct(base, point);
  trial.wait_mean_us = metric_of(point, lock.metrics + "wait_mean_us");
  trial.wait_max_us = metric_of(point, lock.metrics + "wait_max_us");
  trial.waited_pct = metric_of(point, lock.metrics + "cpu_pct");
  trial.transfers = transfers_of(point);
  return trial;
}

bool is_recorded(const LockTrial& trial) {
  return trial.recorded;
}

bool is_fifo(const LockTrial& trial) {
  return find_lock(trial.algorithm).traits.fifo;
}

}  // namespace

std::vector<RecordedLock> locks_that_matter(const std::vector<RecordedLock>& locks, const ReportedPoint& recorded) {
  const auto waited = [&](const RecordedLock& lock) { return metric_of(recorded, lock.metrics + "cpu_pct"); };
  std::vector<RecordedLock> chosen = locks;
  std::stable_sort(chosen.begin(), chosen.end(), [&](const RecordedLock& a, const RecordedLock& b) {
    return std::tuple(-waited(a), -a.acquired - a.acquired_shared) < std::tuple(-waited(b), -b.acquired - b.acquired_shared);
  });
  const auto idle = std::find_if(chosen.begin(), chosen.end(), [&](const RecordedLock& lock) { return waited(lock) == 0; });
  const auto some = static_cast<std::size_t>(idle - chosen.begin());
  chosen.resize(std::clamp<std::size_t>(some, std::min<std::size_t>(1, chosen.size()), kMostLocks));
  return chosen;
}

LockComparison ranked_locks(const std::vector<RecordedLock>& locks, const std::vector<LockReplacement>& trials,
                            const std::vector<ReportedPoint>& points) {
  LockComparison comparison;
  for (const RecordedLock& lock : locks) {
    LockRanking ranking{lock.name, lock.algorithm, {trial_of(lock, lock.replayed_as, points.front(), points.front())}, {}};
    for (std::size_t i = 1; i < trials.size(); ++i) {
      if (trials[i].lock != lock.name) continue;
      if (points[i].finished) {
        ranking.trials.push_back(trial_of(lock, trials[i].algorithm, points[i], points.front()));
      } else {
        ranking.failed.push_back(trials[i].algorithm);
      }
    }
    std::stable_sort(ranking.trials.begin(), ranking.trials.end(),
                     [](const LockTrial& a, const LockTrial& b) { return a.throughput_per_s > b.throughput_per_s; });
    comparison.locks.push_back(std::move(ranking));
  }
  std::stable_sort(comparison.locks.begin(), comparison.locks.end(), [](const LockRanking& a, const LockRanking& b) {
    return a.trials.front().change_pct > b.trials.front().change_pct;
  });
  return comparison;
}

bool is_worth_it(const LockTrial& trial, const LockComparison& comparison) {
  return trial.change_pct >= kWorthIt && trial.change_pct > kOrders * comparison.order_pct;
}

std::string replayed_as(const LockRanking& lock) {
  const auto recorded = std::find_if(lock.trials.begin(), lock.trials.end(), is_recorded);
  const std::string& algorithm = recorded->algorithm;
  return algorithm == lock.recorded_algorithm ? "" : fmt::format("as {}; recorded: {}", algorithm, lock.recorded_algorithm);
}

std::string advice(const LockComparison& comparison) {
  const LockRanking& first = comparison.locks.front();
  const LockTrial& best = first.trials.front();
  if (best.change_pct < kWorthIt)
    return fmt::format("{}: leave the locks as they are: no other one gains as much as {} %", comparison.machine, kWorthIt);
  if (!is_worth_it(best, comparison))
    return fmt::format(
        "{}: leave the locks as they are: {} for {} gains {:.1f} %, less than twice the {:.1f} % that orders of the same "
        "operations differ by",
        comparison.machine, best.algorithm, first.lock, best.change_pct, comparison.order_pct);
  const auto recorded = std::find_if(first.trials.begin(), first.trials.end(), is_recorded);
  const std::string was = recorded->algorithm == first.recorded_algorithm ? "" : fmt::format(" ({})", first.recorded_algorithm);
  std::string text = fmt::format("{}: {} instead of {}{}: {:+.1f} % throughput on {}", first.lock, best.algorithm,
                                 recorded->algorithm, was, best.change_pct, comparison.machine);
  const auto fair = std::find_if(first.trials.begin(), recorded, [](const LockTrial& trial) { return is_fifo(trial); });
  if (fair != recorded && !is_fifo(best))
    text += fmt::format("; nobody passes another with {}: {:+.1f} %", fair->algorithm, fair->change_pct);
  return text;
}

}  // namespace linebounce::sim
