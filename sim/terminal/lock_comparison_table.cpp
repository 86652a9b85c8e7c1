#include "sim/terminal/lock_comparison_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/results/numbers.hpp"
#include "sim/studies/replay/replay_study.hpp"

namespace linebounce::sim {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kNameWidth = 18;
constexpr std::size_t kWidth = 13;
constexpr std::size_t kColumns = 6;

std::string head(const Painter& paint) {
  std::string text = "  " + pad_right("lock", kNameWidth);
  for (const char* column : {"per s", "change", "waiting", "mean wait", "longest wait", "transfers"})
    text += pad_left(column, kWidth);
  return paint(Colour::dim, text) + "\n" + rule(paint, kNameWidth + kColumns * kWidth);
}

std::string change_text(const LockTrial& trial, const LockComparison& all, const Painter& paint) {
  if (trial.recorded) return paint(Colour::dim, pad_left("as recorded", kWidth));
  const Colour colour = is_worth_it(trial, all) ? Colour::green : trial.change_pct <= -kWorthIt ? Colour::red : Colour::none;
  return paint(colour, pad_left(fmt::format("{:+.1f} %", trial.change_pct), kWidth));
}

std::string row(const LockTrial& trial, const LockComparison& all, const Painter& paint) {
  return "    " + pad_right(trial.algorithm, kNameWidth - 2) + pad_left(readable(trial.throughput_per_s), kWidth) +
         change_text(trial, all, paint) + pad_left(fmt::format("{:.1f} %", trial.waited_pct), kWidth) +
         pad_left(fmt::format("{} us", readable(trial.wait_mean_us)), kWidth) +
         pad_left(fmt::format("{} us", readable(trial.wait_max_us)), kWidth) +
         pad_left(fmt::format("{:.0f}", trial.transfers), kWidth) + "\n";
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
  std::string out = "  " + paint(Colour::bold, comparison.machine) + "\n" + head(paint);
  for (const LockRanking& lock : comparison.locks) {
    out += "  " + paint(Colour::bold, shortened(lock.lock, kNameWidth + 4 * kWidth));
    const std::string as = replayed_as(lock);
    out += (as.empty() ? "" : "  " + paint(Colour::dim, as)) + "\n";
    for (const LockTrial& trial : lock.trials) out += row(trial, comparison, paint);
    for (const std::string& algorithm : lock.failed)
      out += "    " + pad_right(algorithm, kNameWidth - 2) + paint(Colour::red, pad_left("failed", kWidth)) + "\n";
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
  return out + "  " + wrapped_from(note, 2, Colour::dim, paint);
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
