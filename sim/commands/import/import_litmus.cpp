// Turns litmus tests into an experiment, runs it, and compares the outcomes that occurred with those that each test's memory
// model allows.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <array>
#include <iostream>
#include <map>
#include <set>

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
#include "workloads/litmus/reference.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using namespace workloads;

constexpr std::int64_t kRounds = 2000;
constexpr int kStoreBuffer = 16;
constexpr std::size_t kOfSmallMachine = 4;  // CPUs

// A runnable test, and the experiment's point that runs it.
struct RunnableTest {
  HerdTest test;
  std::size_t point = 0;  // index of the point; tests with the same threads share one
};

// The runnable tests of one or several files, and the refused files.
struct LitmusTests {
  std::vector<RunnableTest> runnable;
  std::vector<std::string> refused;             // one sentence per refused file, beginning with its name
  toml::array machines, models, threads, asks;  // of the points

  void add(HerdTest test) {
    const std::string machine = test.threads.size() > kOfSmallMachine ? "p3_xeon_8way" : "p3_xeon_4way";
    const auto [place, is_new] = points_.try_emplace({test.consistency, test.joined_threads(), test.asks}, points_.size());
    if (is_new) {
      machines.push_back(machine);
      models.push_back(test.consistency);
      threads.push_back(test.joined_threads());
      asks.push_back(test.asks);
    }
    runnable.push_back({std::move(test), place->second});
  }

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
    set.insert("machine.cpu.consistency", tests.models[0]);
  } else {
    toml::table together{{"machine", tests.machines},
                         {"machine.cpu.consistency", tests.models},
                         {"workload.threads", tests.threads},
                         {"workload.asks", tests.asks}};
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
  if (seen == 0)
    return fmt::format(
        "allowed by {}, never seen here in {} rounds: the simulated core completes a load before its next operation, and a "
        "store "
        "reaches all other CPUs at once",
        test.consistency, rounds);
  return fmt::format("allowed by {}, and seen in {} of {} rounds", test.consistency, seen, rounds);
}

// A litmus test with the outcomes that its memory model allows and those that its simulated point produced.
struct JudgedTest {
  JudgedTest(const HerdTest& herd, const ReportedPoint& point)
      : own(litmus_test_of(herd.joined_threads(), herd.asks)),
        allowed(allowed_outcomes(own, herd.consistency == "tso" ? Consistency::tso : Consistency::ia64)),
        rounds(count_of(point, "litmus.rounds")),
        asked(count_of(point, "litmus.asked")),
        forbidden(count_of(point, "litmus.forbidden")) {
    for (const LitmusOutcome& outcome : allowed) {
      seen.push_back(count_of(point, "litmus.seen." + own.outcome_name(outcome)));
      asked_is_allowed = asked_is_allowed || own.asks_for(outcome);
    }
  }

  LitmusTest own;
  std::set<LitmusOutcome> allowed;
  std::vector<std::int64_t> seen;  // of each allowed outcome
  bool asked_is_allowed = false;
  std::int64_t rounds, asked, forbidden;
};

void print_outcomes(const HerdTest& test, const JudgedTest& judged, const Painter& paint) {
  const std::set<LitmusOutcome> sequential = allowed_outcomes(judged.own, Consistency::sc);
  Table table({names("outcome"), figures("seen", 8, 2), words("", 0, 2)}, paint);
  table.add_rule();
  auto seen = judged.seen.begin();
  const std::string_view about = test.is_for_all ? "breaks the condition" : "asked about";
  for (const LitmusOutcome& outcome : judged.allowed) {
    const bool asked = judged.own.asks_for(outcome);
    table.add({{outcome_text(test, judged.own, outcome), asked ? Colour::bold : Colour::none},
               std::to_string(*seen++),
               std::string(asked ? about : "") +
                   (sequential.contains(outcome) ? "" : std::string(asked ? ", " : "") + "no interleaving gives it")});
  }
  std::cout << "  " << paint(Colour::bold, visible_name(test.name)) << "  " << visible_name(test.condition) << "\n"
            << paragraph(verdict_text(test, judged.asked_is_allowed, judged.asked, judged.rounds), 2, Colour::none, paint)
            << "\n"
            << table.text()
            << fmt::format("\n  Outcomes that {} forbids: seen {} times.\n", test.consistency, judged.forbidden);
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

  void add(const HerdTest& test, const JudgedTest& judged) {
    const auto seen = std::ranges::count_if(judged.seen, [](std::int64_t times) { return times > 0; });
    const bool is_broken = judged.forbidden > 0;
    table_.add({{test.name, Colour::bold},
                test.consistency,
                asked_text(test, judged),
                std::to_string(judged.asked),
                fmt::format("{} of {}", seen, judged.allowed.size()),
                {std::to_string(judged.forbidden), is_broken ? Colour::red : Colour::none},
                test.stated});
    const std::string_view if_forbidden = test.is_for_all ? "Always" : "Never";
    const bool differs = !test.stated.empty() && judged.asked_is_allowed == (test.stated == if_forbidden);
    if (differs) differing_.push_back(test.name);
    ++(judged.asked_is_allowed ? judged.asked > 0 ? allowed_seen_ : allowed_unseen_ : forbidden_);
    forbidden_times_ += judged.forbidden;
  }

  void print() const {
    std::cout << table_.text() << "\n"
              << paragraph(
                     fmt::format("{}: of the outcomes asked about, {} are allowed ({} of them seen), and {} are forbidden. "
                                 "Forbidden outcomes were seen {} times.",
                                 plural(allowed_seen_ + allowed_unseen_ + forbidden_, "test"), allowed_seen_ + allowed_unseen_,
                                 allowed_seen_, forbidden_, forbidden_times_),
                     2, Colour::none, paint_);
    if (!differing_.empty())
      std::cout << paragraph(fmt::format("Another verdict than the file's own: {}.", fmt::join(differing_, ", ")), 2,
                             Colour::yellow, paint_);
  }

 private:
  static std::string asked_text(const HerdTest& test, const JudgedTest& judged) {
    if (test.is_for_all) return judged.asked_is_allowed ? "not always" : "always";
    return judged.asked_is_allowed ? "allowed" : "forbidden";
  }

  const Painter& paint_;
  Table table_;
  std::uint64_t allowed_seen_ = 0, allowed_unseen_ = 0, forbidden_ = 0;
  std::int64_t forbidden_times_ = 0;
  std::vector<std::string> differing_;
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
  std::set<std::string> doubts;
  const bool is_one = tests.runnable.size() == 1 && tests.refused.empty();
  for (const RunnableTest& one : tests.runnable) {
    const JudgedTest judged(one.test, points[one.point]);
    is_one ? print_outcomes(one.test, judged, paint) : table.add(one.test, judged);
    if (!one.test.doubt.empty()) doubts.insert(one.test.doubt);
  }
  if (!is_one) table.print();
  for (const std::string& doubt : doubts) std::cout << paragraph(doubt, 2, Colour::yellow, paint);
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
  std::cout << fmt::format("\n  {}  of {}: an experiment; linebounce run {} --set machine.cpu.consistency=sc, and the like\n",
                           out.string(), source, shell_word(out.string()));
  return ExitCode::done;
}

}  // namespace linebounce::sim
