#include "commands/check_lock/lock_check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "models/ordinal.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/schema.hpp"
#include "sim/terminal/table.hpp"
#include "workloads/locks/exclusion_check.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;
using workloads::MemoryModel;
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
  for (const MemoryModel model : check.models) columns.push_back(figures(name_of_model(model), 0, 3));
  Table table(std::move(columns), paint, 4);
  for (auto one = check.cases.begin(); one != check.cases.end();) {
    const std::string size = case_text(one->lock_case);
    std::vector<Cell> cells = {size};
    for (const MemoryModel model : check.models) {
      if (one == check.cases.end() || one->lock_case.model != model || case_text(one->lock_case) != size) {
        cells.emplace_back("-");
        continue;
      }
      const bool all = one->result.is_complete();
      cells.emplace_back(std::to_string(one->result.states) + (all ? "" : "+"), all ? Colour::none : Colour::yellow);
      ++one;
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string why_incomplete(const LockCheck& check, const Painter& paint) {
  std::string out;
  if (any_result(check, [](const SearchResult& result) { return !result.all_states; }))
    out += paragraph(
        "Where \"+\" stands, the search stopped at its limit of states, or a quick one of time: --states N looks further.", 4,
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

using workloads::LockOperation;

// Of an operation that did not run, the outermost place of its chain that it shares with none that ran.
const std::string& telling_place(const LockOperation& one, const std::vector<LockOperation>& operations) {
  std::size_t depth = 0;
  const auto is_shared = [&](const LockOperation& other) {
    return other.ran && other.chain.size() > depth &&
           std::equal(one.chain.begin(), one.chain.begin() + static_cast<std::ptrdiff_t>(depth) + 1, other.chain.begin());
  };
  while (depth + 1 < one.chain.size() && std::ranges::any_of(operations, is_shared)) ++depth;
  return one.chain[depth];
}

std::set<std::string> places_that_did_not_run(const std::vector<LockOperation>& operations) {
  std::set<std::string> places;
  for (const LockOperation& one : operations) {
    if (!one.ran) places.insert(telling_place(one, operations));
  }
  return places;
}

struct SourcePlace {
  std::string file;
  int line = 0;
};

SourcePlace source_place(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  return {place.substr(0, colon), std::stoi(place.substr(colon + 1))};
}

// As "lock.c:7, 9 to 12; other.h:3": a range joins lines of one file if no operation between them ran.
std::string ranges_that_did_not_run(const std::vector<LockOperation>& operations) {
  std::map<std::string, std::map<int, bool>> files;  // by file and line: whether an operation of that line has not run
  for (const LockOperation& one : operations) {
    for (const std::string& place : one.chain) {
      const auto [file, line] = source_place(place);
      if (one.ran) files[file].try_emplace(line, false);
    }
  }
  for (const std::string& place : places_that_did_not_run(operations)) {
    const auto [file, line] = source_place(place);
    files[file][line] = true;
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
                               operations_that_ran(check), all, ranges_that_did_not_run(check.operations)),
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
  if (any_case([](const CheckedCase& one) { return one.lock_case.model == MemoryModel::c11; })) {
    out +=
        "; what c11 leaves out here: a load that takes effect after a later store (load buffering), and stores to a part of a "
        "word that pass each other";
  } else if (any_case([](const CheckedCase& one) { return one.lock_case.model == MemoryModel::ia64; })) {
    out += "; loads out of order, which ia64 allows";
  }
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

// "sc, tso and ia64"
std::string list_of(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

template <class Is>
std::string models_that(const LockCheck& check, Is is) {
  std::vector<std::string> names;
  for (const MemoryModel model : check.models) {
    if (is(model)) names.push_back(name_of_model(model));
  }
  return list_of(names);
}

const char* held(const LockCheck& check) {
  return check.all_ran() ? "holds" : "holds as far as it ran";
}

// Names the models under which the lock holds before those that break it.
VerdictText broken_verdict(const LockCheck& check, const CheckedCase& broken) {
  const std::string unbroken = models_that(check, [&](MemoryModel model) { return check.broken_under(model) == nullptr; });
  const std::string under = models_that(check, [&](MemoryModel model) { return check.broken_under(model) != nullptr; });
  if (broken.lock_case.model == MemoryModel::sc || unbroken.empty())
    return {Colour::red, "broken", fmt::format(" under {}: {}", under, broken.result.violation)};
  const bool complete = std::ranges::all_of(
      check.models, [&](MemoryModel model) { return check.broken_under(model) != nullptr || check.is_complete_under(model); });
  const char* const claim = check.claims(broken.lock_case.model) ? "" : ", which it does not claim";
  return {check.claims(broken.lock_case.model) ? Colour::red : Colour::green, complete ? held(check) : "no violation found",
          fmt::format(" under {}; broken under {}{}: {}", unbroken, under, claim, broken.result.violation)};
}

// The case that the report shows: under a model that the lock claims, if there is one.
const CheckedCase* shown_case(const LockCheck& check) {
  if (const CheckedCase* const broken = check.broken_case(); broken != nullptr) return broken;
  for (const MemoryModel model : check.models) {
    if (const CheckedCase* const broken = check.broken_under(model); broken != nullptr) return broken;
  }
  return nullptr;
}

VerdictText verdict_of(const LockCheck& check) {
  if (check.verdict() == LockVerdict::not_checkable) return {Colour::yellow, "not checked", ": " + check.not_checkable};
  if (check.broken_trial()) return {Colour::red, "broken", ": " + trial_failure(check.trials.back().failure)};
  if (const CheckedCase* const broken = shown_case(check); broken != nullptr) return broken_verdict(check, *broken);
  const std::string all = models_that(check, [](MemoryModel) { return true; });
  if (check.verdict() == LockVerdict::incomplete)
    return {Colour::yellow, "no violation found", fmt::format(" under {}, but not everything was looked at", all)};
  return {Colour::green, held(check),
          fmt::format(" under {}: mutual exclusion and no deadlock, in every interleaving tried", all)};
}

std::string verdict_text(const std::string& lock, const LockCheck& check, const Painter& paint) {
  const auto [colour, word, rest] = verdict_of(check);
  const std::string gap = rest.starts_with(' ') ? " " : "";  // which wrapped_from() drops
  const std::size_t column = 2 + width_of(lock) + 2 + width_of(word) + gap.size();
  return "  " + paint(Colour::bold, lock) + "  " + paint(colour, word) + gap + wrapped_from(rest, column, Colour::none, paint);
}

}  // namespace

std::string lock_check_text(const workloads::LockEntry& lock, const LockCheck& check, const std::string& experiment,
                            const Painter& paint) {
  const std::string out = verdict_text(lock.name, check, paint);
  if (check.verdict() == LockVerdict::not_checkable) return out;
  std::string steps;
  if (const CheckedCase* const broken = shown_case(check); broken != nullptr && !broken->result.steps.empty())
    steps = fmt::format("\n  {}, under {}:\n\n{}", case_text(broken->lock_case), name_of_model(broken->lock_case.model),
                        interleaving(*broken, paint));
  if (check.broken_case() != nullptr) return out + steps;
  if (check.broken_trial()) {
    const MachineTrial& trial = check.trials.back();
    return out + fmt::format("    on a random machine after {}, {} CPUs, under {}; see it again: linebounce run {}\n",
                             trial.machine, trial.cpus, name_of(trial.consistency), shell_word(experiment));
  }
  return out + steps + "\n" + table_of_states(check, paint) + "\n" + why_incomplete(check, paint) +
         coverage_text(check, paint) + order_text(lock, check) + paragraph(trials_text(check), 4, Colour::none, paint) +
         not_seen(lock, check, paint);
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
                     {"consistency", name_of_model(one.lock_case.model)},
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
  ordered_json models = ordered_json::object();
  for (const MemoryModel model : check.models) {
    models[name_of_model(model)] = check.broken_under(model) != nullptr ? "broken"
                                   : check.is_complete_under(model)     ? "holds"
                                                                        : "incomplete";
  }
  return {{"schema", "linebounce.check_lock/1"},
          {"lock", lock.name},
          {"verdict", name_of(check.verdict())},
          {"models", std::move(models)},
          {"not_checkable", check.not_checkable},
          {"cases", std::move(cases)},
          {"operations",
           {{"all", check.operations.size()},
            {"ran", operations_that_ran(check)},
            {"not_run", places_that_did_not_run(check.operations)}}},
          {"trials", std::move(trials)},
          {"experiment", experiment}};
}

}  // namespace linebounce::sim
