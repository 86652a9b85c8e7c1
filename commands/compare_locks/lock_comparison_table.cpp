#include "commands/compare_locks/lock_comparison_table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "models/text/visible.hpp"
#include "sim/answer/quantity.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/results/numbers.hpp"
#include "sim/terminal/limits_text.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLockNameWidth = 20;
constexpr std::size_t kLockWidth = 70;
constexpr std::size_t kMostWords = 10;

Table empty_table(const Painter& paint) {
  std::vector<Column> columns = {words("lock", kLockNameWidth)};
  const std::vector<std::pair<const char*, std::size_t>> widths = {{"throughput", 11}, {"change", 12},    {"95 % interval", 16},
                                                                   {"waiting", 9},     {"mean wait", 12}, {"longest wait", 13},
                                                                   {"transfers", 10}};
  for (const auto& [title, width] : widths) columns.push_back(figures(title, width));
  Table table(std::move(columns), paint);
  table.add_rule();
  return table;
}

Cell change_cell(const LockTrial& trial) {
  if (trial.recorded) return {"as recorded", Colour::dim};
  const OrdersChange& change = trial.change;
  return {fmt::format("{:+.1f} %", change.median_pct), change.is_gain()   ? Colour::green
                                                       : change.is_loss() ? Colour::red
                                                                          : Colour::none};
}

Cell interval_cell(const LockTrial& trial) {
  if (trial.recorded) return "";
  return interval_text(trial.change);
}

void add_trial(Table& table, const LockTrial& trial) {
  table.add({"  " + trial.algorithm, quantity(trial.throughput_per_s, {}, "1/s"), change_cell(trial), interval_cell(trial),
             fmt::format("{:.1f} %", trial.waited_pct), quantity(trial.wait_mean_us, {}, "us"),
             quantity(trial.wait_max_us, {}, "us"), fmt::format("{:.0f}", trial.transfers)});
}

std::string cheap_locks_text(const LockComparison& comparison, const Painter& paint) {
  if (comparison.cheap.empty()) return "";
  std::vector<std::string> names;
  for (const CheapLock& lock : comparison.cheap)
    names.push_back(fmt::format("{} ({:.2g} %)", shortened(lock.lock, kLockNameWidth * 2), lock.most_pct));
  return paragraph(
      fmt::format("Not replaced, for no lock can gain more than the share of the run's time that it takes to acquire "
                  "these and to wait for them: {} (--lock replaces them all the same)",
                  fmt::join(names, ", ")),
      2, Colour::none, paint);
}

std::string first_look_text(const LockComparison& comparison, const Painter& paint) {
  if (!comparison.first_look) return "";
  const FirstLook& look = *comparison.first_look;
  std::vector<std::string> behind;
  for (const auto& [lock, algorithm, change_pct] : look.behind)
    behind.push_back(fmt::format("{} for {} ({:+.1f} %)", algorithm, shortened(lock, kLockNameWidth * 2), change_pct));
  std::string text =
      "The trace is long: all replacements ran in one order, and the best two of each lock, and the best fair one, in all. ";
  if (!behind.empty()) text += fmt::format("Behind them in that order: {}. ", fmt::join(behind, ", "));
  if (!look.locks.empty()) text += fmt::format("Nothing was tried for {}, with less waiting. ", fmt::join(look.locks, ", "));
  return paragraph(text + "--thorough tries everything in all orders.", 2, Colour::none, paint);
}

// "hbo, bravo": the locks in the table that the program cannot have.
std::string in_no_library_text(const LockComparison& comparison, const Painter& paint) {
  std::set<std::string> none;
  for (const LockRanking& lock : comparison.locks) {
    for (const LockTrial& trial : lock.trials) {
      if (!trial.recorded && !can_be_had(trial.algorithm, comparison.of_user_program, comparison.from_files))
        none.insert(trial.algorithm);
    }
  }
  if (none.empty()) return "";
  return paragraph(fmt::format("In no library that we know of, so never recommended: {}.", fmt::join(none, ", ")), 2,
                   Colour::none, paint);
}

// Null if there was no first look: every lock was replaced by every other one in all orders.
ordered_json first_look_json(const LockComparison& comparison) {
  if (!comparison.first_look) return nullptr;
  ordered_json behind = ordered_json::array();
  for (const auto& [lock, algorithm, change_pct] : comparison.first_look->behind)
    behind.push_back({{"lock", lock}, {"algorithm", algorithm}, {"change_pct", rounded(change_pct)}});
  return {{"behind", std::move(behind)}, {"locks_left_out", comparison.first_look->locks}};
}

// Null if no trial gained, so that there was nothing to confirm.
ordered_json confirmation_json(const LockComparison& comparison) {
  if (!comparison.again) return nullptr;
  const auto& [replacement, change] = *comparison.again;
  return {{"lock", replacement.lock},
          {"algorithm", replacement.algorithm},
          {"orders", change.orders},
          {"change_pct", rounded(change.median_pct)},
          {"change_low_pct", rounded(change.low_pct)},
          {"change_high_pct", rounded(change.high_pct)}};
}

ordered_json trial_json(const LockComparison& comparison, const LockTrial& trial) {
  return {{"algorithm", trial.algorithm},
          {"can_be_had", can_be_had(trial.algorithm, comparison.of_user_program, comparison.from_files)},
          {"recorded", trial.recorded},
          {"throughput_per_s", rounded(trial.throughput_per_s)},
          {"change_pct", rounded(trial.change.median_pct)},
          {"change_low_pct", rounded(trial.change.low_pct)},
          {"change_high_pct", rounded(trial.change.high_pct)},
          {"waited_pct", rounded(trial.waited_pct)},
          {"wait_mean_us", rounded(trial.wait_mean_us)},
          {"wait_max_us", rounded(trial.wait_max_us)},
          {"transfers", rounded(trial.transfers)}};
}

}  // namespace

std::string lock_comparison_table(const LockComparison& comparison, const Painter& paint) {
  const std::string head = "  " + paint(Colour::bold, comparison.machine) + "\n";
  if (comparison.locks.empty()) return head + cheap_locks_text(comparison, paint);
  Table table = empty_table(paint);
  for (const LockRanking& lock : comparison.locks) {
    const std::string as = replayed_as(comparison, lock);
    table.add_text("  " + paint(Colour::bold, shortened(visible_name(lock.lock), kLockWidth)) +
                   (as.empty() ? "" : "  " + paint(Colour::dim, as)) + "\n");
    for (const LockTrial& trial : lock.trials) add_trial(table, trial);
    for (const std::string& algorithm : lock.failed) table.add({"  " + algorithm, {"failed", Colour::red}});
    for (const std::string& sentence : lock.not_offered)
      table.add_text(paragraph("not offered: " + sentence, 4, Colour::dim, paint));
  }
  const std::string note =
      fmt::format(
          "One lock at a time is another, all others are as recorded, in {} orders of the same operations; figures are medians "
          "over them. With the recorded locks these orders differ by {:.1f} %, and the recorded order is {:.1f} % {} than "
          "their "
          "median. ",
          comparison.orders, comparison.order_pct, std::abs(comparison.recorded_order_pct),
          comparison.recorded_order_pct < 0 ? "slower" : "faster") +
      "throughput: operations of the whole program; change: against the recorded locks in the same order, and the 95 % "
      "interval of "
      "their geometric mean (Student's t, of logarithms); waiting: share of the time of CPUs with a thread that is spent "
      "waiting for this lock; waits are "
      "of those who "
      "had to; a long longest wait beside a short mean is an unfair lock; transfers: lines that went from one cache to "
      "another or were upgraded, in the whole run.";
  return head + table.text() + in_no_library_text(comparison, paint) + first_look_text(comparison, paint) +
         cheap_locks_text(comparison, paint) + "  " + wrapped_from(note, 2, Colour::dim, paint);
}

std::string word_locks_table(const std::vector<trace::WordLock>& words, bool replaced, const Painter& paint) {
  if (words.empty()) return "";
  Table table({names("words that behave like locks", 40), figures("acquisitions", 14), figures("threads", 9),
               figures("retries", 12), names("algorithm", 11, 2)},
              paint);
  for (std::size_t i = 0; i < std::min(words.size(), kMostWords); ++i) {
    const trace::WordLock& word = words[i];
    table.add({word.lock.name, std::to_string(word.acquisitions), std::to_string(word.streams), std::to_string(word.retries),
               word.lock.algorithm});
  }
  if (words.size() > kMostWords) table.add_text(fmt::format("  and {} more\n", words.size() - kMostWords));
  const bool any_uncontended =
      std::ranges::any_of(words, [](const trace::WordLock& word) { return word.lock.algorithm == trace::kUncontended; });
  const std::string unseen =
      any_uncontended ? " uncontended: nobody waited, so how its waiters wait was not seen; it runs as ttas. linebounce-record "
                        "--spread lets short threads overlap."
                      : "";
  const std::string note =
      replaced ? "They are taken for locks here: attempts that failed and looks at the word are left out."
               : "A guess from how threads take them and give them back; compare-locks --word-locks takes them for locks.";
  return table.text() + paragraph(note + unseen, 2, Colour::dim, paint);
}

ordered_json word_locks_json(const std::vector<trace::WordLock>& words) {
  ordered_json list = ordered_json::array();
  for (const trace::WordLock& word : words) {
    list.push_back({{"name", word.lock.name},
                    {"algorithm", word.lock.algorithm},
                    {"classification", trace::classification(word)},
                    {"acquisitions", word.acquisitions},
                    {"retries", word.retries},
                    {"streams", word.streams}});
  }
  return list;
}

ordered_json lock_comparison_json(const std::string& trace, const std::vector<LockComparison>& machines,
                                  const std::vector<trace::WordLock>& words, bool replaced,
                                  const std::vector<std::string>& missing) {
  ordered_json list = ordered_json::array();
  for (const LockComparison& machine : machines) {
    ordered_json locks = ordered_json::array();
    for (const LockRanking& lock : machine.locks) {
      ordered_json trials = ordered_json::array();
      for (const LockTrial& trial : lock.trials) trials.push_back(trial_json(machine, trial));
      locks.push_back({{"lock", lock.lock},
                       {"recorded", lock.recorded_algorithm},
                       {"replayed_as", replayed_as(machine, lock)},
                       {"trials", std::move(trials)},
                       {"failed", lock.failed},
                       {"not_offered", lock.not_offered}});
    }
    ordered_json cheap = ordered_json::array();
    for (const CheapLock& lock : machine.cheap) cheap.push_back({{"lock", lock.lock}, {"most_pct", rounded(lock.most_pct)}});
    list.push_back({{"machine", machine.machine},
                    {"directory", machine.directory.string()},
                    {"orders", machine.orders},
                    {"order_pct", rounded(machine.order_pct)},
                    {"recorded_order_pct", rounded(machine.recorded_order_pct)},
                    {"tries_otherwise_pct", rounded(machine.tries_otherwise_pct)},
                    {"locks", std::move(locks)},
                    {"cheap_locks", std::move(cheap)},
                    {"confirmation", confirmation_json(machine)},
                    {"first_look", first_look_json(machine)},
                    {"advice", behind_limits(machine.limits, advice(machine))},
                    {"assumptions", machine.assumptions},
                    {"family_range", machine.family_range}});
  }
  return {{"schema", "linebounce.compare_locks/1"},
          {"trace", trace},
          {"machines", std::move(list)},
          {"word_locks", word_locks_json(words)},
          {"word_locks_replaced", replaced},
          {"basis", machines.empty() ? std::string() : machines.front().basis},
          {"limits", limits_json(machines.empty() ? trace::Limits() : machines.front().limits)},
          {"missing", missing}};
}

}  // namespace linebounce::sim
