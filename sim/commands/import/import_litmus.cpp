// Turns litmus tests into an experiment, runs it, and compares the outcomes that occurred with those that each test's memory
// model allows, if Linebounce has that model.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <array>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "models/ordinal.hpp"
#include "models/text/shell_word.hpp"
#include "models/text/visible.hpp"
#include "sim/commands/import/importers.hpp"
#include "sim/config/load_experiment.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/plan/run_plan.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/result_files.hpp"
#include "sim/sources/litmus_text.hpp"
#include "sim/terminal/run_report.hpp"
#include "sim/terminal/table.hpp"
#include "trace/error.hpp"
#include "workloads/litmus/litmus.hpp"
#include "workloads/litmus/reference.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using namespace workloads;

constexpr std::string_view kWhyNever =
    "the simulated core completes a load before its next operation, and a store reaches all other CPUs at once";

constexpr std::int64_t kRounds = 2000;
constexpr int kStoreBuffer = 16;
constexpr std::size_t kOfSmallMachine = 4;  // CPUs

// A runnable test, and the experiment's point that runs it.
struct RunnableTest {
  explicit RunnableTest(HerdTest herd) : test(std::move(herd)), own(litmus_test_of(test.joined_threads(), test.asks)) {
    const Consistency model = test.consistency == "tso" ? Consistency::tso : Consistency::ia64;
    if (!test.unmodelled.empty()) no_verdict = fmt::format("Linebounce has no memory model of {}", test.unmodelled);
    try {
      possible = is_judged() ? allowed_outcomes(own, model) : machine_outcomes(own, model);
    } catch (const TooManyOrders& many) {
      if (is_judged())
        no_verdict = fmt::format("all its orders under {} would be tried, and they have {}", test.consistency, many.what());
    }
  }

  [[nodiscard]] bool is_judged() const { return no_verdict.empty(); }

  HerdTest test;
  LitmusTest own;
  // What the memory model of the test's architecture allows; without a verdict, what the machine can end in. None: it has too
  // many orders to try.
  std::optional<std::set<LitmusOutcome>> possible;
  std::string no_verdict;  // why there is none
  std::size_t point = 0;   // index of the point; tests with the same threads share one
};

// The runnable tests of one or several files, and the refused files.
struct LitmusTests {
  std::vector<RunnableTest> runnable;
  std::vector<std::string> refused;                     // one sentence per refused file, beginning with its name
  toml::array machines, models, threads, asks, judges;  // of the points

  void add(HerdTest herd) {
    runnable.emplace_back(std::move(herd));
    const HerdTest& test = runnable.back().test;
    const std::string machine = test.threads.size() > kOfSmallMachine ? "p3_xeon_8way" : "p3_xeon_4way";
    const auto [place, is_new] = points_.try_emplace({test.consistency, test.joined_threads(), test.asks}, points_.size());
    if (is_new) {
      machines.push_back(machine);
      models.push_back(test.consistency);
      threads.push_back(test.joined_threads());
      asks.push_back(test.asks);
      judges.push_back(kLitmusJudges[ordinal(runnable.back().is_judged() ? LitmusJudge::machine : LitmusJudge::none)]);
    }
    runnable.back().point = place->second;
  }

  [[nodiscard]] bool all_are_judged() const { return std::ranges::all_of(runnable, &RunnableTest::is_judged); }

 private:
  std::map<std::array<std::string, 3>, std::size_t> points_;
};

// Resembles configs/experiments/litmus.toml, with the user's tests. Stores may wait long for their lines, so that later stores
// can overtake them.
std::string experiment_text(const LitmusTests& tests, const std::string& name, const std::string& title,
                            const std::string& source) {
  toml::table workload{{"name", "litmus"}, {"rounds", kRounds}};
  toml::table set{{"machine.cpu.outstanding_misses", 2}, {"machine.cpu.store_buffer_entries", kStoreBuffer}};
  toml::table experiment{
      {"name", name}, {"title", title}, {"seed", 1}, {"run", toml::table{{"warmup_us", 0}, {"measure_us", 0}}}};
  experiment.insert("machine", tests.machines[0]);
  if (tests.threads.size() == 1) {
    workload.insert("threads", tests.threads[0]);
    workload.insert("asks", tests.asks[0]);
    if (!tests.all_are_judged()) workload.insert("judge", tests.judges[0]);
    set.insert("machine.cpu.consistency", tests.models[0]);
  } else {
    toml::table together{{"machine", tests.machines},
                         {"machine.cpu.consistency", tests.models},
                         {"workload.threads", tests.threads},
                         {"workload.asks", tests.asks}};
    if (!tests.all_are_judged()) together.insert("workload.judge", tests.judges);
    experiment.insert("sweep", toml::table{{"together", toml::array{std::move(together)}}});
  }
  experiment.insert("workload", std::move(workload));
  experiment.insert("set", std::move(set));
  return fmt::format("# Written by `linebounce import {}`\n\n", source) + to_toml(experiment);
}

std::string title_of(const LitmusTests& tests, const std::string& source) {
  const HerdTest& first = tests.runnable.front().test;
  if (tests.runnable.size() > 1) return fmt::format("{} litmus tests, from {}", tests.runnable.size(), source);
  return fmt::format("Litmus test {}, from {}{}{}", first.name, source, first.title.empty() ? "" : ": ", first.title);
}

std::string outcome_text(const HerdTest& test, const LitmusTest& own, const LitmusOutcome& outcome) {
  std::string text;
  for (std::size_t i = 0; i < outcome.size(); ++i) {
    const auto registers = static_cast<std::size_t>(own.registers);
    const std::string& name = i < registers ? test.registers[i] : test.variables[own.last_values[i - registers]];
    text += fmt::format("{}{}={}", i == 0 ? "" : "; ", name, outcome[i]);
  }
  return text;
}

std::int64_t count_of(const ReportedPoint& point, const std::string& name) {
  const auto found = point.metrics.find(name);
  return found == point.metrics.end() ? 0 : static_cast<std::int64_t>(as_double(found->second.value));
}

// `allowed`: whether the memory model permits an outcome that breaks the condition. `seen`: in how many rounds one occurred.
std::string verdict_for_all(const HerdTest& test, bool allowed, std::int64_t seen, std::int64_t rounds) {
  if (!allowed && seen == 0)
    return fmt::format("holds: {} allows no other outcome, and none was seen in {} rounds", test.consistency, rounds);
  if (!allowed)
    return fmt::format("{} allows no other outcome, and yet {} of {} rounds broke it", test.consistency, seen, rounds);
  return fmt::format("does not hold: {} allows other outcomes, and {} of {} rounds ended so", test.consistency, seen, rounds);
}

std::string verdict_text(const HerdTest& test, bool allowed, std::int64_t seen, std::int64_t rounds) {
  if (test.is_for_all) return verdict_for_all(test, allowed, seen, rounds);
  if (!allowed && seen == 0) return fmt::format("forbidden by {}, and never seen in {} rounds", test.consistency, rounds);
  if (!allowed) return fmt::format("forbidden by {}, and yet seen {} times in {} rounds", test.consistency, seen, rounds);
  if (seen == 0) return fmt::format("allowed by {}, never seen here in {} rounds: {}", test.consistency, rounds, kWhyNever);
  return fmt::format("allowed by {}, and seen in {} of {} rounds", test.consistency, seen, rounds);
}

// "r0_1.x_2": see LitmusTest::outcome_name.
LitmusOutcome outcome_named(std::string_view name) {
  LitmusOutcome outcome;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    const std::string_view part = name.substr(0, end);
    outcome.push_back(std::stoi(std::string(part.substr(part.rfind('_') + 1))));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return outcome;
}

// What the machine did in a test's rounds.
struct TriedTest {
  TriedTest(const RunnableTest& one, const ReportedPoint& point)
      : test(one.test),
        own(one.own),
        possible(one.possible),
        no_verdict(one.no_verdict),
        rounds(count_of(point, "litmus.rounds")),
        asked(count_of(point, "litmus.asked")),
        forbidden(count_of(point, "litmus.forbidden")) {
    const std::string prefix = "litmus.seen.";
    for (const LitmusOutcome& outcome : possible.value_or(std::set<LitmusOutcome>()))
      seen[outcome] = count_of(point, prefix + own.outcome_name(outcome));
    for (const auto& [name, value] : point.metrics) {
      if (!possible && name.starts_with(prefix)) seen[outcome_named(name.substr(prefix.size()))] = count_of(point, name);
    }
    for (const auto& [outcome, times] : seen) {
      seen_outcomes += times > 0 ? 1 : 0;
      asked_is_possible = asked_is_possible || own.asks_for(outcome);
    }
  }

  [[nodiscard]] bool is_judged() const { return no_verdict.empty(); }

  // Whether the result in the file contradicts the verdict or, without one, what was seen. An outcome that the file allows need
  // not be seen.
  [[nodiscard]] bool contradicts_file() const {
    if (is_judged())
      return !test.stated.empty() && asked_is_possible == (test.stated == (test.is_for_all ? "Always" : "Never"));
    const std::int64_t satisfied = test.is_for_all ? rounds - asked : asked;
    return (test.stated == "Never" && satisfied > 0) || (test.stated == "Always" && satisfied < rounds);
  }

  const HerdTest& test;
  const LitmusTest& own;
  const std::optional<std::set<LitmusOutcome>>& possible;  // see RunnableTest
  const std::string& no_verdict;
  std::map<LitmusOutcome, std::int64_t>
      seen;  // rounds of each possible outcome; if these are not known, of those that occurred
  std::int64_t seen_outcomes = 0;
  bool asked_is_possible = false;
  std::int64_t rounds, asked, forbidden;
};

// For a test without a verdict: what the machine did, and what the file says.
std::string what_was_seen(const TriedTest& tried) {
  const HerdTest& test = tried.test;
  const std::string where = fmt::format("on a machine with {}'s store buffers", test.consistency);
  std::string text = fmt::format("No verdict: {}. ", tried.no_verdict);
  if (tried.asked > 0) {
    text += fmt::format("{} of {} rounds {}, {}.", tried.asked, tried.rounds,
                        test.is_for_all ? "broke the condition" : "ended as asked about", where);
  } else {
    text +=
        fmt::format("{} {} rounds {}", test.is_for_all ? "The condition held in all" : "Never seen in", tried.rounds, where);
    const bool can_not = tried.possible && !tried.asked_is_possible;
    text += can_not ? fmt::format(", which can't {}: {}.", test.is_for_all ? "break it" : "end so", kWhyNever) : ".";
  }
  if (!test.stated.empty()) text += fmt::format(" The file says: {}.", test.stated);
  return text;
}

void print_outcomes(const TriedTest& tried, const Painter& paint) {
  const HerdTest& test = tried.test;
  std::optional<std::set<LitmusOutcome>> sequential;
  try {
    sequential = allowed_outcomes(tried.own, Consistency::sc);
  } catch (const TooManyOrders&) {  // then no outcome is marked
  }
  Table table({names("outcome"), figures("seen", 8, 2), words("", 0, 2)}, paint);
  table.add_rule();
  const std::string_view about = test.is_for_all ? "breaks the condition" : "asked about";
  for (const auto& [outcome, times] : tried.seen) {
    const bool asked = tried.own.asks_for(outcome), relaxed = sequential && !sequential->contains(outcome);
    table.add(
        {{outcome_text(test, tried.own, outcome), asked ? Colour::bold : Colour::none},
         std::to_string(times),
         fmt::format("{}{}{}", asked ? about : "", asked && relaxed ? ", " : "", relaxed ? "no interleaving gives it" : "")});
  }
  const std::string verdict =
      tried.is_judged() ? verdict_text(test, tried.asked_is_possible, tried.asked, tried.rounds) : what_was_seen(tried);
  std::cout << "  " << paint(Colour::bold, visible_name(test.name)) << "  " << visible_name(test.condition) << "\n"
            << paragraph(verdict, 2, Colour::none, paint) << "\n"
            << table.text();
  if (tried.is_judged())
    std::cout << fmt::format("\n  Outcomes that {} forbids: seen {} times.\n", test.consistency, tried.forbidden);
}

// The table of a folder's tests, with one line for each.
class LitmusTable {
 public:
  // `states_results`: whether any file contains observed results.
  LitmusTable(bool states_results, const Painter& paint)
      : paint_(paint),
        table_(
            {names("test"), words("model", 0, 2), words("asked about", 0, 2), figures("seen", 7, 2),
             figures("outcomes seen", 13, 2), figures("forbidden seen", 14, 2), words(states_results ? "file says" : "", 0, 2)},
            paint) {
    table_.add_rule();
  }

  void add(const TriedTest& tried) {
    const HerdTest& test = tried.test;
    const bool is_broken = tried.forbidden > 0;
    table_.add({{test.name, Colour::bold},
                tried.is_judged() ? test.consistency : "none",
                asked_text(tried),
                std::to_string(tried.asked),
                fmt::format("{} of {}", tried.seen_outcomes, tried.seen.size()),
                {tried.is_judged() ? std::to_string(tried.forbidden) : "", is_broken ? Colour::red : Colour::none},
                test.stated});
    if (tried.contradicts_file()) (tried.is_judged() ? differing_ : contradicting_).push_back(test.name);
    if (!tried.is_judged()) {
      ++reasons_[tried.no_verdict];
      return;
    }
    ++(tried.asked_is_possible ? tried.asked > 0 ? allowed_seen_ : allowed_unseen_ : forbidden_);
    forbidden_times_ += tried.forbidden;
  }

  void print() const {
    std::cout << table_.text() << "\n";
    if (allowed_seen_ + allowed_unseen_ + forbidden_ > 0)
      say(fmt::format(
          "{}: of the outcomes asked about, {} are allowed ({} of them seen), and {} are forbidden. Forbidden outcomes "
          "were seen {} times.",
          plural(allowed_seen_ + allowed_unseen_ + forbidden_, "test"), allowed_seen_ + allowed_unseen_, allowed_seen_,
          forbidden_, forbidden_times_));
    for (const auto& [reason, tests] : reasons_)
      say(
          fmt::format("{} without a verdict: {}. The table shows what the simulated machine did; \"outcomes seen\" says of how "
                      "many that it could have shown.",
                      plural(tests, "test"), reason));
    if (!differing_.empty())
      say(fmt::format("Another verdict than the file's own: {}.", fmt::join(differing_, ", ")), Colour::yellow);
    if (!contradicting_.empty())
      say(fmt::format("The file's result rules out what was seen: {}.", fmt::join(contradicting_, ", ")), Colour::yellow);
  }

 private:
  void say(const std::string& text, Colour colour = Colour::none) const { std::cout << paragraph(text, 2, colour, paint_); }

  static std::string asked_text(const TriedTest& tried) {
    if (!tried.is_judged()) return "no verdict";
    if (tried.test.is_for_all) return tried.asked_is_possible ? "not always" : "always";
    return tried.asked_is_possible ? "allowed" : "forbidden";
  }

  const Painter& paint_;
  Table table_;
  std::uint64_t allowed_seen_ = 0, allowed_unseen_ = 0, forbidden_ = 0;
  std::int64_t forbidden_times_ = 0;
  std::map<std::string, std::uint64_t> reasons_;  // why there is no verdict, and of how many tests
  std::vector<std::string> differing_, contradicting_;
};

// Reads all files. A file without a runnable test is an error only if it is the only one.
LitmusTests read_tests(const std::vector<std::string>& files) {
  LitmusTests tests;
  for (const std::string& file : files) {
    try {
      tests.add(read_herd_test(read_data(file), file));
    } catch (const trace::TraceError& error) {
      if (files.size() == 1) throw;
      tests.refused.emplace_back(error.what());
    }
  }
  if (tests.runnable.empty())
    throw trace::TraceError(
        fmt::format("none of the {} files has a test that can be run:\n  {}", files.size(), fmt::join(tests.refused, "\n  ")));
  return tests;
}

void print_tests(const LitmusTests& tests, const std::vector<ReportedPoint>& points, const Painter& paint) {
  const auto states_result = [](const RunnableTest& one) { return !one.test.stated.empty(); };
  LitmusTable table(std::ranges::any_of(tests.runnable, states_result), paint);
  const bool is_one = tests.runnable.size() == 1 && tests.refused.empty();
  for (const RunnableTest& one : tests.runnable) {
    const TriedTest tried(one, points[one.point]);
    is_one ? print_outcomes(tried, paint) : table.add(tried);
  }
  if (!is_one) table.print();
  if (std::ranges::any_of(tests.runnable, [](const RunnableTest& one) { return one.test.has_partial_fence; }))
    std::cout << paragraph(
        "Barriers for loads or stores alone (smp_rmb, smp_wmb, acquire and release fences) have no counterpart: full fences "
        "stand "
        "for them.",
        2, Colour::yellow, paint);
  if (tests.refused.empty()) return;
  std::cout << paragraph(
      fmt::format("Not run: {} of {} files.", tests.refused.size(), tests.refused.size() + tests.runnable.size()), 2,
      Colour::yellow, paint);
  for (const std::string& sentence : tests.refused) std::cout << paragraph(sentence, 4, Colour::none, paint);
}

}  // namespace

ExitCode import_litmus(const ImportArguments& arguments, const Form&) {
  const LitmusTests tests = read_tests(arguments.files);
  const fs::path out = output_of(arguments, ".toml");
  const std::string source = arguments.folder.empty() ? fs::path(arguments.files.front()).filename().string() +
                                                            (arguments.files.size() > 1 ? " ..." : "")
                                                      : arguments.folder;
  const std::string text = experiment_text(tests, out.stem().string(), title_of(tests, source), source);
  write_file(out, text);
  const Plan plan = make_plan(read_unexpanded(text, out.string(), {}));
  RunOptions options;
  options.directory = fs::path("out") / out.stem();
  options.at_once = available_cores();
  options.fresh = true;
  const RunReport report = run_with_progress(plan, options, out.stem().string(), true);
  print_failures(plan, report, options.directory);
  if (report.code != ExitCode::done) return report.code;
  print_tests(tests, report.results.points, arguments.painter());
  // Another directory, because this one's results are of another model.
  const std::string other = options.directory.string() + "_sc";
  std::cout << fmt::format(
      "\n  {}  of {}: an experiment\n  With sequential consistency:  linebounce run {} --set machine.cpu.consistency=sc --set "
      "machine.cpu.store_buffer_entries=0 -o {}\n",
      out.string(), source, shell_word(out.string()), shell_word(other));
  return ExitCode::done;
}

}  // namespace linebounce::sim
