#include "commands/check_lock/lock_check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "models/ordinal.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/schema.hpp"
#include "sim/terminal/table.hpp"
#include "workloads/locks/exclusion_check.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;
using workloads::Readers;

std::string name_of(Consistency consistency) {
  return std::string(word_of(consistency));
}

template <class Is>
bool any_result(const LockCheck& check, Is is) {
  return std::ranges::any_of(check.cases, [&](const CheckedCase& one) { return is(one.result); });
}

const char* name_of(LockVerdict verdict) {
  switch (verdict) {
    case LockVerdict::holds: return "holds";
    case LockVerdict::broken: return "broken";
    case LockVerdict::incomplete: return "incomplete";
    case LockVerdict::not_checkable: return "not_checkable";
  }
  return "";
}

// Draws one column for each CPU and one row for each step. If the columns don't fit, there is one column, and each step is
// indented by its CPU's number.
std::string interleaving(const CheckedCase& broken, const Painter& paint) {
  constexpr std::size_t kNumberWidth = 4, kColumnGap = 2;
  const std::size_t cpus = broken.lock_case.roles.size();
  std::vector<std::size_t> widths(cpus, width_of("CPU 0"));
  for (const SearchStep& step : broken.result.steps) {
    std::size_t& width = widths[step.cpu];
    width = std::max(width, width_of(step.text));
  }
  const bool beside = std::accumulate(widths.begin(), widths.end(), kNumberWidth + cpus * kColumnGap) <= paint.columns();
  std::vector<Column> columns = {figures("", kNumberWidth)};
  for (std::size_t cpu = 0; cpu < cpus && beside; ++cpu) columns.push_back(words(fmt::format("CPU {}", cpu), 0, kColumnGap));
  if (!beside) columns.push_back(words("", 0, kColumnGap));
  Table table(std::move(columns), paint);
  for (std::size_t i = 0; i < broken.result.steps.size(); ++i) {
    const SearchStep& step = broken.result.steps[i];
    std::vector<Cell> cells = {{std::to_string(i + 1), Colour::dim}};
    if (beside) {
      for (int cpu = 0; cpu < broken.lock_case.cpus(); ++cpu) cells.emplace_back(cpu == step.cpu ? step.text : "");
    } else {
      const std::string indent(2 * step.cpu, ' ');
      cells.emplace_back(fmt::format("{}CPU {}: {}", indent, step.cpu, step.text));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

// Numbers of searched states: a row for each size of the lock's test, a column for each memory model.
std::string table_of_states(const LockCheck& check, const Painter& paint) {
  std::vector<Column> columns = {
      words("states that were looked at"),
  };
  std::vector<Consistency> models;
  for (const CheckedCase& one : check.cases) {
    const Consistency model = one.lock_case.consistency;
    if (std::ranges::find(models, model) == models.end()) models.push_back(model);
  }
  for (const Consistency model : models) columns.push_back(figures(name_of(model), 10));
  Table table(std::move(columns), paint, 4);
  for (std::size_t i = 0; i < check.cases.size(); i += models.size()) {
    std::vector<Cell> cells = {case_text(check.cases[i].lock_case)};
    for (std::size_t model = 0; model < models.size(); ++model) {
      const SearchResult& result = check.cases[i + model].result;
      const bool all = result.is_complete();
      cells.emplace_back(std::to_string(result.states) + (all ? "" : "+"), all ? Colour::none : Colour::yellow);
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string why_incomplete(const LockCheck& check, const Painter& paint) {
  std::string out;
  if (any_result(check, [](const SearchResult& result) { return !result.all_states; }))
    out += paragraph("Where \"+\" stands, the search stopped at its limit of states: --states N looks further.", 4,
                     Colour::none, paint);
  if (any_result(check, [](const SearchResult& result) { return result.cut_off > 0 && result.counts_turns; }))
    out +=
        "    The lock gives up a loop though nothing has changed, so each number of turns is a case of its own. Where a CPU\n"
        "    took very many steps, the search stopped.\n";
  if (any_result(check, [](const SearchResult& result) { return result.cut_off > 0 && !result.counts_turns; }))
    out +=
        "    In some orders a CPU took very many steps, and the search stopped there: CPUs may keep each other out for ever\n"
        "    (livelock), or only need long.\n";
  return out;
}

// Nothing is said of cases that were cut off.
std::string order_text(const workloads::LockEntry& lock, const LockCheck& check) {
  int passed = 0;
  for (const CheckedCase& one : check.cases) passed = std::max(passed, one.result.most_passed);
  const bool cut = any_result(check, [](const SearchResult& result) { return !result.is_complete(); });
  if (lock.traits.fifo)
    return cut ? "    First come, first served, as far as was looked.\n" : "    First come, first served, as it says.\n";
  if (passed == 0)
    return fmt::format("    No waiter was overtaken{}; the lock does not say that it is first come, first served.\n",
                       cut ? " as far as was looked" : "");
  return fmt::format("    Not first come, first served: a waiter was overtaken {}.\n",
                     passed == 1 ? "once" : fmt::format("up to {} times", passed));
}

// The places, as "lock.c:7, 9 to 12; other.h:3". Lines of one file that follow each other without an operation that ran stand
// as a range. `operations`: in the order of the code.
std::string places_that_did_not_run(const std::vector<workloads::LockOperation>& operations) {
  std::map<std::string, std::map<int, bool>> files;  // by file and line: whether one of the line has not run
  for (const workloads::LockOperation& one : operations) {
    const std::size_t colon = one.place.rfind(':');
    const auto [line, is_new] = files[one.place.substr(0, colon)].try_emplace(std::stoi(one.place.substr(colon + 1)), false);
    line->second = line->second || !one.ran;
  }
  std::string text;
  for (const auto& [file, lines] : files) {
    std::string ranges;
    for (auto line = lines.begin(); line != lines.end(); ++line) {
      if (!line->second) continue;
      const int first = line->first;
      int last = first;
      for (auto next = std::next(line); next != lines.end() && next->second; ++next) line = next, last = next->first;
      ranges += (ranges.empty() ? "" : ", ") + (first == last ? std::to_string(first) : fmt::format("{} to {}", first, last));
    }
    if (!ranges.empty()) text += fmt::format("{}{}:{}", text.empty() ? "" : "; ", file, ranges);
  }
  return text;
}

std::int64_t operations_that_ran(const LockCheck& check) {
  return std::ranges::count(check.operations, true, &workloads::LockOperation::ran);
}

std::string coverage_text(const LockCheck& check, const Painter& paint) {
  if (check.operations.empty()) return {};
  const auto all = plural(check.operations.size(), "operation");
  if (check.all_ran()) return paragraph(fmt::format("All {} of its source on shared memory ran.", all), 4, Colour::none, paint);
  return paragraph(fmt::format("{} of {} of its source on shared memory ran; not {}: nothing is said of these.",
                               operations_that_ran(check), all, places_that_did_not_run(check.operations)),
                   4, Colour::none, paint);
}

std::string trials_text(const LockCheck& check) {
  if (check.trials.empty()) return "No random machine was tried.";
  int fewest = check.trials.front().cpus, most = fewest;
  for (const MachineTrial& trial : check.trials) {
    fewest = std::min(fewest, trial.cpus);
    most = std::max(most, trial.cpus);
  }
  std::string models;
  for (const Consistency model : {Consistency::sc, Consistency::tso, Consistency::ia64}) {
    const auto count =
        std::ranges::count_if(check.trials, [&](const MachineTrial& trial) { return trial.consistency == model; });
    if (count > 0) models += fmt::format("{}{} {}", models.empty() ? "" : ", ", count, name_of(model));
  }
  const std::string cpus = plural(static_cast<std::uint64_t>(most), "CPU");
  return fmt::format("{} of {} ({}): no update was lost.", plural(check.trials.size(), "random machine"),
                     fewest == most ? cpus : fmt::format("{} to {}", fewest, cpus), models);
}

std::string not_seen(const workloads::LockEntry& lock, const LockCheck& check, const Painter& paint) {
  const auto any_case = [&](auto is) { return std::ranges::any_of(check.cases, is); };
  std::string out = "more CPUs and acquisitions in all interleavings; several locks at once";
  if (!any_case([](const CheckedCase& one) { return one.lock_case.has_tries(); })) out += "; try_acquire";
  if (any_case([](const CheckedCase& one) { return one.lock_case.consistency == Consistency::ia64; }))
    out += "; loads out of order, which ia64 allows";
  if (any_result(check, [](const SearchResult& result) { return result.has_loops; }))
    out += fmt::format("; loops that end by themselves after more than {} turns", kProbedTurns);
  if (any_result(check, [](const SearchResult& result) { return result.left_out_draws; }))
    out += fmt::format("; random numbers beyond {} of their values, and beyond a CPU's first {}", kTriedValues, kFreeDraws);
  if (any_result(check, [](const SearchResult& result) { return result.left_out_seconds; }))
    out += fmt::format("; time that passes more than {} times for a CPU in one call", kFreeSeconds);
  if (lock.traits.readers == Readers::never_wait) out += "; readers, who take nothing";
  Table table({words("", 12), prose("", 0, 1)}, paint, 4);
  table.add({"Not checked:", out + "."});
  return table.text();
}

struct VerdictText {
  Colour colour;
  std::string word, rest;
};

// Removes the lock's name from the message, because it is already printed.
std::string trial_failure(const std::string& failure) {
  const std::string first = failure.substr(0, failure.find('\n'));
  const std::size_t name_end = first.find(workloads::kDoesNotExclude);
  return name_end == std::string::npos ? first : first.substr(name_end + workloads::kDoesNotExclude.size());
}

VerdictText verdict_of(const LockCheck& check) {
  switch (check.verdict()) {
    case LockVerdict::not_checkable: return {Colour::yellow, "not checked", ": " + check.not_checkable};
    case LockVerdict::broken:
      return {Colour::red, "broken",
              ": " + (check.broken_case() ? check.cases.back().result.violation : trial_failure(check.trials.back().failure))};
    case LockVerdict::incomplete: return {Colour::yellow, "no violation found", ", but not everything was looked at"};
    case LockVerdict::holds:
      return {Colour::green, check.all_ran() ? "holds" : "holds as far as it ran",
              ": mutual exclusion and no deadlock, in every interleaving tried"};
  }
  return {};
}

std::string verdict_text(const std::string& lock, const LockCheck& check, const Painter& paint) {
  const auto [colour, word, rest] = verdict_of(check);
  const std::size_t column = 2 + width_of(lock) + 2 + width_of(word);
  return "  " + paint(Colour::bold, lock) + "  " + paint(colour, word) + wrapped_from(rest, column, Colour::none, paint);
}

}  // namespace

std::string lock_check_text(const workloads::LockEntry& lock, const LockCheck& check, const std::string& experiment,
                            const Painter& paint) {
  const std::string out = verdict_text(lock.name, check, paint);
  if (check.verdict() == LockVerdict::not_checkable) return out;
  if (check.broken_case()) {
    const CheckedCase& broken = check.cases.back();
    if (broken.result.steps.empty()) return out;
    return out + fmt::format("\n  {}, under {}:\n\n{}", case_text(broken.lock_case), name_of(broken.lock_case.consistency),
                             interleaving(broken, paint));
  }
  if (check.broken_trial()) {
    const MachineTrial& trial = check.trials.back();
    return out + fmt::format("    on a random machine after {}, {} CPUs, under {}; see it again: linebounce run {}\n",
                             trial.machine, trial.cpus, name_of(trial.consistency), shell_word(experiment));
  }
  return out + "\n" + table_of_states(check, paint) + "\n" + why_incomplete(check, paint) + coverage_text(check, paint) +
         order_text(lock, check) + paragraph(trials_text(check), 4, Colour::none, paint) + not_seen(lock, check, paint);
}

ordered_json roles_json(const LockCase& one) {
  ordered_json roles = ordered_json::array();
  for (const Role role : one.roles) roles.push_back(role == Role::writes ? "writes" : role == Role::reads ? "reads" : "tries");
  return roles;
}

ordered_json step_json(const SearchStep& step) {
  ordered_json memory = ordered_json::array();
  for (const auto& [word, value] : step.after.memory) memory.push_back({word, value});
  return {{"cpu", step.cpu},
          {"text", step.text},
          {"memory", std::move(memory)},
          {"buffers", step.after.buffers},
          {"inside", step.after.inside}};
}

ordered_json lock_check_json(const workloads::LockEntry& lock, const LockCheck& check, const std::string& experiment) {
  ordered_json cases = ordered_json::array();
  for (const CheckedCase& one : check.cases) {
    ordered_json steps = ordered_json::array();
    for (const SearchStep& step : one.result.steps) steps.push_back(step_json(step));
    cases.push_back({{"cpus", one.lock_case.cpus()},
                     {"acquisitions", one.lock_case.acquisitions},
                     {"consistency", name_of(one.lock_case.consistency)},
                     {"with_readers", one.lock_case.has_readers()},
                     {"roles", roles_json(one.lock_case)},
                     {"states", one.result.states},
                     {"all_states", one.result.all_states},
                     {"cut_off", one.result.cut_off},
                     {"most_passed", one.result.most_passed},
                     {"violation", one.result.violation},
                     {"steps", std::move(steps)}});
  }
  ordered_json trials = ordered_json::array();
  for (const MachineTrial& trial : check.trials) {
    trials.push_back({{"machine", trial.machine},
                      {"cpus", trial.cpus},
                      {"consistency", name_of(trial.consistency)},
                      {"failure", trial.failure}});
  }
  ordered_json not_run = ordered_json::array();
  for (const workloads::LockOperation& one : check.operations) {
    if (!one.ran) not_run.push_back(one.place);
  }
  return {{"schema", "linebounce.check_lock/1"},
          {"lock", lock.name},
          {"verdict", name_of(check.verdict())},
          {"not_checkable", check.not_checkable},
          {"cases", std::move(cases)},
          {"operations", {{"all", check.operations.size()}, {"ran", operations_that_ran(check)}, {"not_run", not_run}}},
          {"trials", std::move(trials)},
          {"experiment", experiment}};
}

}  // namespace linebounce::sim
