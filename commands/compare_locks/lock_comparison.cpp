#include "commands/compare_locks/lock_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "models/text/visible.hpp"
#include "sim/lines/rank_correlation.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

LockTrial trial_of(const RecordedLock& lock, const std::string& algorithm, const TrialsInOrders& orders, std::size_t number,
                   double with_threads) {
  const auto figures = [&](const std::string& metric) {
    return orders.figures(number, [&metric](const ReportedPoint& point) { return metric_of(point, metric); });
  };
  const std::vector<double> longest_waits = figures(lock.metrics + "wait_max_us");
  LockTrial trial;
  trial.lock = lock.name;
  trial.algorithm = algorithm;
  trial.recorded = number == 0;
  trial.throughput_per_s = median(orders.throughputs(number));
  trial.change = orders.change(number);
  trial.wait_mean_us = median(figures(lock.metrics + "wait_mean_us"));
  trial.wait_max_us = *std::ranges::max_element(longest_waits);
  trial.waited_pct = median(figures(lock.metrics + "cpu_pct")) / with_threads;
  trial.transfers = median(orders.figures(number, transfers_of));
  return trial;
}

LockRanking ranking_of(const RecordedLock& lock, const std::vector<LockReplacement>& trials, const TrialsInOrders& orders,
                       double with_threads) {
  LockRanking ranking{.lock = lock.name,
                      .recorded_algorithm = lock.algorithm,
                      .trials = {trial_of(lock, lock.replayed_as, orders, 0, with_threads)},
                      .failed = {},
                      .not_offered = not_offered(lock),
                      .only_readers = lock.acquired_shared > 0 && lock.acquired == 0};
  for (std::size_t i = 1; i < trials.size(); ++i) {
    if (trials[i].lock != lock.name) continue;
    if (orders.finished(i)) {
      ranking.trials.push_back(trial_of(lock, trials[i].algorithm, orders, i, with_threads));
    } else {
      ranking.failed.push_back(trials[i].algorithm);
    }
  }
  std::ranges::stable_sort(ranking.trials, std::ranges::greater{}, &LockTrial::throughput_per_s);
  return ranking;
}

double largest_change(const LockRanking& ranking) {
  double largest = ranking.trials.front().change.median_pct;
  for (const LockTrial& trial : ranking.trials) largest = std::max(largest, trial.change.median_pct);
  return largest;
}

const LockRanking& ranking_in(const LockComparison& comparison, const std::string& lock) {
  return *std::ranges::find_if(comparison.locks, [&](const auto& it) { return it.lock == lock; });
}

bool is_recorded(const LockTrial& trial) {
  return trial.recorded;
}

const LockTraits& traits_of(const std::string& algorithm, const std::vector<LockEntry>& from_files) {
  for (const LockEntry& entry : from_files) {
    if (entry.name == algorithm) return entry.traits;
  }
  return find_lock(algorithm).traits;
}

bool is_own(const std::string& algorithm, const std::vector<LockEntry>& from_files) {
  return std::ranges::find(from_files, algorithm, &LockEntry::name) != from_files.end();
}

// What gives the program this lock. Empty for a lock of its own, and where no program links anything.
std::string library_of(const LockComparison& comparison, const std::string& algorithm) {
  const bool is_linked = comparison.of_user_program && !is_own(algorithm, comparison.from_files);
  return is_linked ? find_lock(algorithm).library : "";
}

const LockTraits& traits_of(const LockComparison& comparison, const std::string& algorithm) {
  return traits_of(algorithm, comparison.from_files);
}

bool is_fair(const LockReplacement& trial, const std::vector<LockEntry>& from_files) {
  return !trial.algorithm.empty() && traits_of(trial.algorithm, from_files).fifo;
}

}  // namespace

bool can_be_had(const std::string& algorithm, bool of_user_program, const std::vector<LockEntry>& from_files) {
  return !of_user_program || is_own(algorithm, from_files) || !find_lock(algorithm).library.empty();
}

std::vector<RecordedLock> locks_that_matter(const std::vector<RecordedLock>& locks, const ReportedPoint& recorded) {
  const auto waited = [&](const RecordedLock& lock) { return metric_of(recorded, lock.metrics + "cpu_pct"); };
  std::vector<RecordedLock> chosen = locks;
  std::stable_sort(chosen.begin(), chosen.end(), [&](const RecordedLock& a, const RecordedLock& b) {
    return std::tuple(-waited(a), -a.acquired - a.acquired_shared) < std::tuple(-waited(b), -b.acquired - b.acquired_shared);
  });
  const auto idle = std::find_if(chosen.begin(), chosen.end(), [&](const RecordedLock& lock) { return waited(lock) == 0; });
  const std::size_t some = idle - chosen.begin();
  chosen.resize(std::clamp<std::size_t>(some, std::min<std::size_t>(1, chosen.size()), kMostLocks));
  return chosen;
}

std::vector<LockReplacement> left_by_first_look(const std::vector<LockReplacement>& trials, const TrialsInOrders& seen,
                                                const std::vector<LockEntry>& own, bool of_user_program, FirstLook& look) {
  if (seen.count() == 0) return {};
  const auto throughput = [&seen](std::size_t trial) { return seen.finished(trial) ? seen.throughputs(trial).front() : 0; };
  constexpr std::ptrdiff_t kBest = 2;
  std::vector<LockReplacement> kept = {trials.front()};
  for (std::size_t i = 1; i < trials.size(); ++i) {
    const bool can_have = can_be_had(trials[i].algorithm, of_user_program, own);
    std::ptrdiff_t better = 0, fair_and_better = 0;
    for (std::size_t other = 1; other < trials.size(); ++other) {
      if (trials[other].lock != trials[i].lock || throughput(other) <= throughput(i)) continue;
      if (can_have && !can_be_had(trials[other].algorithm, of_user_program, own)) continue;
      ++better;
      fair_and_better += is_fair(trials[other], own) ? 1 : 0;
    }
    const bool is_best_fair = is_fair(trials[i], own) && fair_and_better == 0;
    if (better < kBest || is_best_fair || is_own(trials[i].algorithm, own) || throughput(i) == 0) {
      kept.push_back(trials[i]);
    } else {
      look.behind.push_back({trials[i].lock, trials[i].algorithm, 100 * (throughput(i) / throughput(0) - 1)});
    }
  }
  return kept;
}

double instructions_of(const ReportedPoint& recorded, double operations) {
  // Host instructions per replayed operation, reading the trace included: `bench --case replay` under valgrind takes 731 for
  // each additional reference.
  constexpr double kOfOperation = 730;
  // Host instructions per transfer: contended references take 3,988 on one bus and 7,348 on two nodes
  // (tests/end_to_end/instruction_counts.json).
  constexpr double kOfTransfer = 5500;
  return kOfOperation * operations + kOfTransfer * transfers_of(recorded);
}

std::optional<CheapLock> cheap_lock(const RecordedLock& lock, const ReportedPoint& recorded, int cpus) {
  // The most transfers of a lock's word for one acquisition: to read it and to write it, both when acquiring and when
  // releasing.
  constexpr double kWaysOfAWord = 4;
  double longest_way_us = 0;
  for (const char* source : {"local_c2c", "remote_c2c", "upgrade", "local_memory", "remote_memory"})
    longest_way_us = std::max(longest_way_us, metric_of(recorded, fmt::format("latency.{}.mean_ns", source)) / 1000);
  const auto acquired = static_cast<double>(lock.acquired + lock.acquired_shared);
  const double waits_pct = metric_of(recorded, lock.metrics + "cpu_pct") * cpus;
  const double most_pct = waits_pct + 100 * kWaysOfAWord * acquired * longest_way_us / run_us(recorded);
  if (most_pct >= kTooLittle) return std::nullopt;
  return CheapLock{lock.name, most_pct};
}

std::optional<LockComparison> ranked_locks(const std::vector<RecordedLock>& locks, const std::vector<LockReplacement>& trials,
                                           const TrialsInOrders& orders, const ReportedPoint& recorded, double with_threads) {
  if (!orders.are_enough()) return std::nullopt;
  LockComparison comparison;
  comparison.orders = orders.count();
  comparison.tries_otherwise_pct = std::max(metric_of(recorded, kTriesOtherwise), orders.tries_otherwise_pct(0));
  const std::vector<double> base = orders.throughputs(0);
  const auto [least, most] = std::minmax_element(base.begin(), base.end());
  comparison.order_pct = 100 * (*most - *least) / median(base);
  comparison.recorded_order_pct = 100 * (metric_of(recorded, kThroughput) / median(base) - 1);
  for (const RecordedLock& lock : locks) comparison.locks.push_back(ranking_of(lock, trials, orders, with_threads));
  std::ranges::stable_sort(comparison.locks, std::ranges::greater{}, largest_change);
  return comparison;
}

void add_trial(LockRanking& ranking, const RecordedLock& lock, const std::string& algorithm, const TrialsInOrders& orders,
               double with_threads) {
  ranking.trials.push_back(trial_of(lock, algorithm, orders, 1, with_threads));
  std::ranges::stable_sort(ranking.trials, std::ranges::greater{}, &LockTrial::throughput_per_s);
}

namespace {

bool can_have(const LockComparison& comparison, const std::string& algorithm) {
  return can_be_had(algorithm, comparison.of_user_program, comparison.from_files);
}

const LockTrial* best_gain_of(const LockComparison& comparison, bool can_be) {
  const LockTrial* best = nullptr;
  for (const LockRanking& lock : comparison.locks) {
    for (const LockTrial& trial : lock.trials) {
      const double least = best == nullptr ? 0 : best->change.promise_pct();
      if (trial.change.promise_pct() > least && can_have(comparison, trial.algorithm) == can_be) best = &trial;
    }
  }
  return best;
}

// Names the lock that gains more than `least_pct` in the trials, but that the program cannot have. Empty if there is none.
std::string in_no_library(const LockComparison& comparison, double least_pct) {
  const LockTrial* best = best_gain_of(comparison, false);
  if (best == nullptr || best->change.median_pct <= least_pct) return "";
  return fmt::format("; {} for {}, which no library has, {}", best->algorithm, best->lock, gains_text(best->change));
}

}  // namespace

const LockTrial* best_gain(const LockComparison& comparison) {
  return best_gain_of(comparison, true);
}

std::optional<Confirmation> confirmation_of(const LockReplacement& replacement, const TrialsInOrders& orders) {
  if (!orders.are_enough() || !orders.finished(1)) return std::nullopt;
  return Confirmation{replacement, orders.change(1)};
}

std::string replayed_as(const LockComparison& comparison, const LockRanking& lock) {
  if (const auto word = comparison.words.find(lock.lock); word != comparison.words.end()) return word->second;
  const auto recorded = std::ranges::find_if(lock.trials, is_recorded);
  const std::string& algorithm = recorded->algorithm;
  return algorithm == lock.recorded_algorithm ? "" : fmt::format("as {}; recorded: {}", algorithm, lock.recorded_algorithm);
}

namespace {

// "a and b", "a, b and 3 more". REQUIRES: at least two names.
std::string named_in_short(const std::vector<std::string>& names) {
  if (names.size() == 2) return names[0] + " and " + names[1];
  return fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
}

// Explains why no trial replaced some locks; empty if there is nothing to explain.
std::string not_tried(const LockComparison& comparison) {
  const std::vector<std::string>& own = comparison.own_locks;
  if (own.size() == 1) return own.front() + " behaves like a lock and was not replaced (--word-locks replaces it)";
  if (!own.empty()) return named_in_short(own) + " behave like locks and were not replaced (--word-locks replaces them)";
  return "";
}

// "; gate runs as ttas, because nobody waited", for each word that was replayed as a lock and has trials.
std::string classifications(const LockComparison& comparison) {
  std::string text;
  for (const LockRanking& lock : comparison.locks) {
    if (const auto word = comparison.words.find(lock.lock); word != comparison.words.end())
      text += fmt::format("; {} {}", word->first, word->second);
  }
  return text;
}

std::string no_advice(const LockComparison& comparison) {
  const std::string why_open = not_tried(comparison);
  const std::string leave =
      comparison.machine + (!why_open.empty()             ? fmt::format(": no verdict, as {}: of the others, ", why_open)
                            : comparison.limits.may_add() ? ": no verdict; in what was recorded, "
                                                          : ": leave the locks as they are: ");
  if (comparison.locks.empty()) {
    double most_pct = 0;
    for (const CheapLock& lock : comparison.cheap) most_pct += lock.most_pct;
    return fmt::format("{}to take them and to wait for them costs at most {:.2g} % of the run's time", leave, most_pct);
  }
  const std::string by_chance = leave + "no other one is better by more than chance";
  if (comparison.again) {
    const std::string& lock = comparison.again->replacement.lock;
    const std::string& algorithm = comparison.again->replacement.algorithm;
    const std::vector<LockTrial>& trials = ranking_in(comparison, lock).trials;
    const auto first = std::ranges::find_if(trials, [&](const auto& it) { return it.algorithm == algorithm; });
    return fmt::format("{}: {} for {} {} in {} orders, and {} in others", by_chance, algorithm, lock, gains_text(first->change),
                       comparison.orders, text_of(comparison.again->change));
  }
  if (const LockTrial* best = best_gain(comparison); best != nullptr)
    return fmt::format("{}{} for {} {} in {} orders, but has not finished in others", leave, best->algorithm, best->lock,
                       gains_text(best->change), comparison.orders);
  const LockRanking& first = comparison.locks.front();
  const auto gain = [&](const LockTrial& trial) {
    return can_have(comparison, trial.algorithm) ? trial.change.median_pct : -std::numeric_limits<double>::infinity();
  };
  const auto best = std::ranges::max_element(first.trials, {}, gain);
  if (best->change.median_pct < kWorthIt) return fmt::format("{}no other one gains as much as {} %", leave, kWorthIt);
  return fmt::format("{}: {} for {} {} in {} orders", by_chance, best->algorithm, first.lock, gains_text(best->change),
                     comparison.orders);
}

}  // namespace

std::string advice(const LockComparison& comparison) {
  if (const std::string why = why_no_verdict(comparison.tries_otherwise_pct); !why.empty())
    return fmt::format("{}: no verdict, as {}", comparison.machine, why);
  if (comparison.limits.may_reverse()) return comparison.machine + ": no verdict";
  if (!comparison.again || !comparison.again->change.is_gain())
    return no_advice(comparison) + tries_text(comparison.tries_otherwise_pct, "; ") + in_no_library(comparison, kWorthIt) +
           classifications(comparison);
  const auto& [lock, algorithm] = comparison.again->replacement;
  const LockRanking& ranking = ranking_in(comparison, lock);
  const auto recorded = std::ranges::find_if(ranking.trials, is_recorded);
  const std::string was =
      recorded->algorithm == ranking.recorded_algorithm ? "" : fmt::format(" ({})", ranking.recorded_algorithm);
  std::string text = fmt::format("{}: {} instead of {}{}: {} on {}", visible_name(lock), algorithm, recorded->algorithm, was,
                                 throughput_text(comparison.again->change), comparison.machine);
  if (const std::string library = library_of(comparison, algorithm); !library.empty())
    text += fmt::format("; {} comes from {}", algorithm, library);
  text += in_no_library(comparison, comparison.again->change.median_pct);
  if (ranking.only_readers && traits_of(comparison, algorithm).readers != workloads::Readers::one_by_one)
    text +=
        "; no writer was recorded, which would have to wait for the readers or to make copies: its cost is not in this gain";
  const auto fair = std::find_if(ranking.trials.begin(), recorded, [&](const LockTrial& trial) {
    return traits_of(comparison, trial.algorithm).fifo && trial.change.is_gain() && can_have(comparison, trial.algorithm);
  });
  if (fair != recorded && !traits_of(comparison, algorithm).fifo)
    text += fmt::format("; nobody passes another with {}: {}", fair->algorithm, text_of(fair->change));
  if (const auto word = comparison.words.find(lock); word != comparison.words.end())
    text += fmt::format("; {} {} in the recording", visible_name(lock), word->second);
  if (traits_of(comparison, recorded->algorithm).sleeps && !traits_of(comparison, algorithm).sleeps)
    text += fmt::format("; {} spins: with more threads than CPUs, waiters keep the owner from running", algorithm);
  if (const std::string why_open = not_tried(comparison); !why_open.empty()) text += "; " + why_open + ": that may matter more";
  if (!comparison.family_range.empty()) text += ". " + comparison.family_range;
  return text;
}

}  // namespace linebounce::sim
