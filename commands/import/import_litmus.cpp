// Judges litmus tests by the memory models that they were written for, and runs them on the timed machine: as an experiment,
// whose outcomes are compared with what the model allows.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <memory>

#include "commands/import/importers.hpp"
#include "commands/import/litmus_report.hpp"
#include "commands/import/litmus_steps.hpp"
#include "forms/line_file.hpp"
#include "litmus/machine_program.hpp"
#include "litmus/read_test.hpp"
#include "litmus/shipped_models.hpp"
#include "models/ordinal.hpp"
#include "models/text/shell_word.hpp"
#include "models/text/visible.hpp"
#include "sim/config/load_experiment.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/plan/run_plan.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/run_report.hpp"
#include "trace/error.hpp"
#include "workloads/litmus/litmus.hpp"
#include "workloads/litmus/reference.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using litmus::MachineProgram;
using litmus::Program;

constexpr std::int64_t kRounds = 2000;
constexpr int kStoreBuffer = 16;
constexpr std::size_t kOfSmallMachine = 4;  // CPUs

std::string machine_for(std::size_t cpus) {
  return cpus > kOfSmallMachine ? "p3_xeon_8way" : "p3_xeon_4way";
}

struct ReadTest {
  std::unique_ptr<const Program> program;
  std::optional<MachineProgram> machine = {};
  std::string not_run = {};  // the reason, if the machine can't run it
  std::size_t point = 0;     // of the experiment; tests with the same threads share one
};

// The tests of one or several files, and the refused files.
struct ReadTests {
  std::vector<ReadTest> tests;
  std::vector<std::string> refused;                     // one sentence per refused file, beginning with its name
  toml::array machines, models, threads, asks, judges;  // of the points

  void add(Program program) {
    ReadTest test{.program = std::make_unique<const Program>(std::move(program))};
    try {
      test.machine = litmus::machine_program(*test.program);
      test.point = point(test.program->threads.size(), *test.machine);
    } catch (const std::invalid_argument& problem) {
      test.machine.reset();
      test.not_run = problem.what();
    }
    tests.push_back(std::move(test));
  }

  // True if every point counts forbidden outcomes, which is the workload's default.
  [[nodiscard]] bool all_are_counted() const {
    const std::string usual = workloads::kLitmusJudges[ordinal(workloads::LitmusJudge::machine)];
    return std::all_of(judges.begin(), judges.end(), [&](const toml::node& one) { return one.value<std::string>() == usual; });
  }

 private:
  std::size_t point(std::size_t cpus, const MachineProgram& program) {
    const auto [place, is_new] = points_.try_emplace({program.consistency, program.threads, program.asks}, points_.size());
    if (is_new) {
      machines.push_back(machine_for(cpus));
      models.push_back(program.consistency);
      threads.push_back(program.threads);
      asks.push_back(program.asks);
      judges.push_back(workloads::kLitmusJudges[ordinal(judge_in_runs(program))]);
    }
    return place->second;
  }

  // Whether `linebounce run` of the experiment counts outcomes that the machine's own model forbids: for x86, if its orders are
  // few enough to try them all.
  static workloads::LitmusJudge judge_in_runs(const MachineProgram& program) {
    if (program.consistency != "tso") return workloads::LitmusJudge::none;
    try {
      workloads::allowed_outcomes(workloads::litmus_test_of(program.threads, program.asks), Consistency::tso);
      return workloads::LitmusJudge::machine;
    } catch (const workloads::TooManyOrders&) {
      return workloads::LitmusJudge::none;
    }
  }

  std::map<std::array<std::string, 3>, std::size_t> points_;
};

// Resembles configs/experiments/litmus.toml, with the user's tests. Stores may wait long for their lines, so that later stores
// can overtake them.
std::string experiment_text(const ReadTests& tests, const std::string& name, const std::string& title,
                            const std::string& source) {
  toml::table workload{{"name", "litmus"}, {"rounds", kRounds}};
  toml::table set{{"machine.cpu.outstanding_misses", 2}, {"machine.cpu.store_buffer_entries", kStoreBuffer}};
  toml::table experiment{
      {"name", name}, {"title", title}, {"seed", 1}, {"run", toml::table{{"warmup_us", 0}, {"measure_us", 0}}}};
  experiment.insert("machine", tests.machines[0]);
  if (tests.threads.size() == 1) {
    workload.insert("threads", tests.threads[0]);
    workload.insert("asks", tests.asks[0]);
    if (!tests.all_are_counted()) workload.insert("judge", tests.judges[0]);
    set.insert("machine.cpu.consistency", tests.models[0]);
  } else {
    toml::table together{{"machine", tests.machines},
                         {"machine.cpu.consistency", tests.models},
                         {"workload.threads", tests.threads},
                         {"workload.asks", tests.asks}};
    if (!tests.all_are_counted()) together.insert("workload.judge", tests.judges);
    experiment.insert("sweep", toml::table{{"together", toml::array{std::move(together)}}});
  }
  experiment.insert("workload", std::move(workload));
  experiment.insert("set", std::move(set));
  return fmt::format("# Written by `linebounce import {}`\n\n", source) + to_toml(experiment);
}

std::string title_of(const ReadTests& tests, const std::string& source) {
  const Program& first = *tests.tests.front().program;
  if (tests.tests.size() > 1) return fmt::format("{} litmus tests, from {}", tests.tests.size(), source);
  return fmt::format("Litmus test {}, from {}{}{}", first.name, source, first.title.empty() ? "" : ": ", first.title);
}

// Reads all files. A file without a readable test is an error only if it is the only one.
ReadTests read_tests(const std::vector<std::string>& files) {
  ReadTests tests;
  for (const std::string& file : files) {
    try {
      tests.add(litmus::read_test(read_data(file), file));
    } catch (const trace::TraceError& error) {
      if (files.size() == 1) throw;
      tests.refused.emplace_back(error.what());
    }
  }
  if (tests.tests.empty())
    throw trace::TraceError(
        fmt::format("none of the {} files has a test that can be read:\n  {}", files.size(), fmt::join(tests.refused, "\n  ")));
  return tests;
}

// Whether an order of the machine's steps ends as the test asks about; true if there are too many to tell.
bool can_end_as_asked(const MachineProgram& program) {
  const workloads::LitmusTest own = workloads::litmus_test_of(program.threads, program.asks);
  try {
    return std::ranges::any_of(
        workloads::machine_outcomes(own, program.consistency == "tso" ? Consistency::tso : Consistency::ia64),
        [&](const workloads::LitmusOutcome& outcome) { return own.asks_for(outcome); });
  } catch (const workloads::TooManyOrders&) {
    return true;
  }
}

MachineRun machine_run(const MachineProgram& program, const ReportedPoint& point) {
  constexpr std::string_view kSeen = "litmus.seen.";
  MachineRun run{.consistency = program.consistency};
  bool is_asked_seen = false;
  for (const auto& [name, metric] : point.metrics) {
    const auto count = static_cast<std::int64_t>(as_double(metric.value));
    if (name == "litmus.rounds") run.rounds = count;
    if (name == "litmus.asked") is_asked_seen = count > 0;
    if (name.starts_with(kSeen) && count > 0) run.seen[program.outcome(std::string_view(name).substr(kSeen.size()))] += count;
  }
  run.can_end_as_asked = is_asked_seen || can_end_as_asked(program);
  return run;
}

// Loads each model once.
class Models {
 public:
  // `name_or_path`: what --model names; empty: each architecture's own.
  explicit Models(std::string name_or_path) : chosen_(std::move(name_or_path)) {
    if (!chosen_.empty()) model(chosen_);
  }

  // Null if there is no model for the test's language.
  const litmus::Model* of(const Program& program) {
    if (!chosen_.empty()) return &model(chosen_);
    return program.is_of_c11 ? nullptr : &model(litmus::model_for(program.architecture));
  }

 private:
  const litmus::Model& model(const std::string& name) {
    auto& place = loaded_[name];
    if (!place) place = std::make_unique<litmus::Model>(litmus::load_model(name));
    return *place;
  }

  std::string chosen_;
  std::map<std::string, std::unique_ptr<litmus::Model>> loaded_;
};

JudgedTest judged(const ReadTest& test, Models& models, const std::vector<ReportedPoint>& points) {
  JudgedTest result{.program = test.program.get(), .model = models.of(*test.program), .not_run = test.not_run};
  if (test.machine) {
    result.machine = machine_run(*test.machine, points[test.point]);
    result.doubt = test.machine->weakened;
  }
  if (result.model == nullptr) {
    result.not_judged = "Linebounce has no memory model of C11";
    return result;
  }
  try {
    litmus::Judge judge(*test.program, *result.model);
    result.judgement = judge.judgement();
    // Nothing is promised about a test with a data race.
    if (result.machine && !result.judgement->has_race) {
      for (const auto& [outcome, times] : result.machine->seen) {
        if (judge.allows(outcome) == false) result.forbidden[outcome] = judge.refusal_of(outcome);
      }
    }
    if (judge.paths().has_cut_loops) result.doubt += " Paths that go round a loop more than twice were left out.";
    result.why_none_ends = judge.paths().has_bad_addresses ? "each uses a number as an address" : "each waits for ever";
    if (judge.paths().has_bad_addresses) result.doubt += " Paths that use a number as an address were left out.";
  } catch (const std::invalid_argument& problem) {
    result.not_judged = problem.what();
  }
  return result;
}

void print_tests(const ReadTests& tests, const std::vector<JudgedTest>& judged, const Painter& paint) {
  const bool is_one = judged.size() == 1 && tests.refused.empty();
  is_one ? print_litmus_test(judged.front(), paint) : print_litmus_tests(judged, paint);
  std::set<std::string> doubts;
  std::map<std::string, std::size_t> not_run;
  for (const JudgedTest& one : judged) {
    if (!one.doubt.empty()) doubts.emplace(stripped(one.doubt));
    if (!one.not_run.empty() && !is_one) ++not_run[one.not_run];
  }
  for (const std::string& doubt : doubts) std::cout << paragraph(doubt, 2, Colour::yellow, paint);
  for (const auto& [reason, count] : not_run)
    std::cout << paragraph(fmt::format("Not run on the machine: {}, for {}.", plural(count, "test"), reason), 2, Colour::none,
                           paint);
  if (tests.refused.empty()) return;
  std::cout << paragraph(
      fmt::format("Not read: {} of {} files.", tests.refused.size(), tests.refused.size() + tests.tests.size()), 2,
      Colour::yellow, paint);
  for (const std::string& sentence : tests.refused) std::cout << paragraph(sentence, 4, Colour::none, paint);
}

// Says what the machine did although the model forbids it, and how it came to that.
void print_forbidden(const ReadTest& test, const JudgedTest& judged, const std::string& experiment) {
  for (const auto& [outcome, refusal] : judged.forbidden) {
    std::cerr << forbidden_text(judged, outcome) << '\n';
    const auto found = steps_to(outcome, *test.program, *test.machine, machine_for(test.program->threads.size()), experiment,
                                judged.machine->rounds);
    if (!found) continue;
    std::cerr << fmt::format("  Round {} ended so:\n    {}\n", found->round, fmt::join(found->steps, "\n    "));
  }
}

}  // namespace

ExitCode import_litmus(const ImportArguments& arguments, const Form&) {
  Models models(arguments.model);
  const ReadTests tests = read_tests(arguments.files);
  const fs::path out = output_of(arguments, ".toml");
  const std::string source = arguments.folder.empty() ? fs::path(arguments.files.front()).filename().string() +
                                                            (arguments.files.size() > 1 ? " ..." : "")
                                                      : arguments.folder;
  std::vector<ReportedPoint> points;
  if (!tests.threads.empty()) {
    const std::string text = experiment_text(tests, out.stem().string(), title_of(tests, source), source);
    write_file(out, text);
    const Plan plan = make_plan(read_unexpanded(text, out.string(), {}));
    RunOptions options;
    options.directory = fs::path("out") / out.stem();
    options.at_once = available_cores();
    options.earlier = EarlierResults::replaced;
    const RunReport report = run_with_progress(plan, options, out.stem().string(), true);
    print_failures(plan, report, options.directory);
    if (report.code != ExitCode::done) return report.code;
    points = report.results.points;
  }
  std::vector<JudgedTest> judged_tests;
  for (const ReadTest& test : tests.tests) judged_tests.push_back(judged(test, models, points));
  print_tests(tests, judged_tests, arguments.painter());
  if (!tests.threads.empty()) {
    // Another directory, because this one's results are of another model.
    const std::string other = (fs::path("out") / out.stem()).string() + "_sc";
    std::cout << fmt::format(
        "\n  {}  of {}: an experiment\n  With sequential consistency:  linebounce run {} --set machine.cpu.consistency=sc "
        "--set "
        "machine.cpu.store_buffer_entries=0 -o {}\n",
        out.string(), source, shell_word(out.string()), shell_word(other));
  }
  bool is_broken = false;
  for (std::size_t i = 0; i < judged_tests.size(); ++i) {
    print_forbidden(tests.tests[i], judged_tests[i], out.string());
    is_broken = is_broken || !judged_tests[i].forbidden.empty();
  }
  return is_broken ? ExitCode::simulation_failed : ExitCode::done;
}

}  // namespace linebounce::sim
