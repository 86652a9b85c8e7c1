#include "sim/terminal/lock_comparison_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/results/numbers.hpp"
#include "sim/studies/replay/replay_study.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kNameWidth = 18;
constexpr std::size_t kWidth = 13;

Table empty_table(const Painter& paint) {
  std::vector<Column> columns = {words("lock", kNameWidth)};
  for (const char* title : {"per s", "change", "waiting", "mean wait", "longest wait", "transfers"})
    columns.push_back(figures(title, kWidth));
  Table table(std::move(columns), paint);
  table.add_rule();
  return table;
}

Cell change_cell(const LockTrial& trial, const LockComparison& all) {
  if (trial.recorded) return {"as recorded", Colour::dim};
  const Colour colour = is_worth_it(trial, all) ? Colour::green : trial.change_pct <= -kWorthIt ? Colour::red : Colour::none;
  return {fmt::format("{:+.1f} %", trial.change_pct), colour};
}

void add_trial(Table& table, const LockTrial& trial, const LockComparison& all) {
  table.add({"  " + trial.algorithm, readable(trial.throughput_per_s), change_cell(trial, all),
             fmt::format("{:.1f} %", trial.waited_pct), readable(trial.wait_mean_us, "us"), readable(trial.wait_max_us, "us"),
             fmt::format("{:.0f}", trial.transfers)});
}

ordered_json trial_json(const LockTrial& trial) {
  return {{"algorithm", trial.algorithm},
          {"recorded", trial.recorded},
          {"throughput_per_s", rounded(trial.throughput_per_s)},
          {"change_pct", rounded(trial.change_pct)},
          {"waited_pct", rounded(trial.waited_pct)},
          {"wait_mean_us", rounded(trial.wait_mean_us)},
          {"wait_max_us", rounded(trial.wait_max_us)},
          {"transfers", rounded(trial.transfers)}};
}

}  // namespace

std::string lock_comparison_table(const LockComparison& comparison, const Painter& paint) {
  Table table = empty_table(paint);
  for (const LockRanking& lock : comparison.locks) {
    const std::string as = replayed_as(lock);
    table.add_text("  " + paint(Colour::bold, shortened(lock.lock, kNameWidth + 4 * kWidth)) +
                   (as.empty() ? "" : "  " + paint(Colour::dim, as)) + "\n");
    for (const LockTrial& trial : lock.trials) add_trial(table, trial, comparison);
    for (const std::string& algorithm : lock.failed) table.add({"  " + algorithm, {"failed", Colour::red}});
  }
  const std::string note =
      fmt::format(
          "One lock at a time is another, all others are as recorded; with the recorded ones, orders of the same operations "
          "differ by "
          "{:.1f} %. ",
          comparison.order_pct) +
      "per s: operations of the whole program; waiting: share of all CPUs' time that is spent waiting for this lock; waits are "
      "of those who had to; a long longest wait beside a short mean "
      "is an unfair lock; transfers: lines that went from one cache to another or were upgraded, in the whole run.";
  return "  " + paint(Colour::bold, comparison.machine) + "\n" + table.text() + "  " +
         wrapped_from(note, 2, Colour::dim, paint);
}

ordered_json lock_comparison_json(const std::string& trace, const std::vector<LockComparison>& machines) {
  ordered_json list = ordered_json::array();
  for (const LockComparison& machine : machines) {
    ordered_json locks = ordered_json::array();
    for (const LockRanking& lock : machine.locks) {
      ordered_json trials = ordered_json::array();
      for (const LockTrial& trial : lock.trials) trials.push_back(trial_json(trial));
      locks.push_back(
          {{"lock", lock.lock}, {"recorded", lock.recorded_algorithm}, {"trials", std::move(trials)}, {"failed", lock.failed}});
    }
    list.push_back({{"machine", machine.machine},
                    {"directory", machine.directory.string()},
                    {"order_pct", rounded(machine.order_pct)},
                    {"locks", std::move(locks)},
                    {"advice", advice(machine)}});
  }
  return {{"schema", "linebounce.compare_locks/1"}, {"trace", trace}, {"machines", std::move(list)}};
}

}  // namespace linebounce::sim
