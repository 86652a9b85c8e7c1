// Turns a litmus test into an experiment and runs it at once, to compare what its model allows with what was observed.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <iostream>
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
#include "workloads/litmus/reference.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using namespace workloads;

constexpr std::int64_t kRounds = 2000;
constexpr int kStoreBuffer = 16;
constexpr std::size_t kOfSmallMachine = 4;  // CPUs

// Like configs/experiments/litmus.toml, with only this test: a store can wait long for its line while others overtake it.
std::string experiment_text(const HerdTest& test, const std::string& name, const std::string& source) {
  const toml::table experiment{
      {"name", name},
      {"title", fmt::format("Litmus test {}, from {}{}{}", test.name, source, test.title.empty() ? "" : ": ", test.title)},
      {"machine", test.threads.size() > kOfSmallMachine ? "p3_xeon_8way" : "p3_xeon_4way"},
      {"seed", 1},
      {"workload",
       toml::table{{"name", "litmus"}, {"threads", test.joined_threads()}, {"asks", test.asks}, {"rounds", kRounds}}},
      {"run", toml::table{{"warmup_us", 0}, {"measure_us", 0}}},
      {"set", toml::table{{"machine.cpu.outstanding_misses", 2},
                          {"machine.cpu.consistency", test.consistency},
                          {"machine.cpu.store_buffer_entries", kStoreBuffer}}}};
  return fmt::format("# Written by `linebounce import {}`: {} {}\n\n", source, test.architecture, test.name) +
         to_toml(experiment);
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

std::string verdict_text(const HerdTest& test, bool allowed, std::int64_t seen, std::int64_t rounds) {
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

void print_outcomes(const HerdTest& test, const ReportedPoint& point, const Painter& paint) {
  const LitmusTest own = litmus_test_of(test.joined_threads(), test.asks);
  const Consistency model = test.consistency == "tso" ? Consistency::tso : Consistency::ia64;
  const std::set<LitmusOutcome> allowed = allowed_outcomes(own, model), sequential = allowed_outcomes(own, Consistency::sc);
  bool asked_allowed = false;
  Table table({names("outcome"), figures("seen", 8, 2), words("", 0, 2)}, paint);
  table.add_rule();
  for (const LitmusOutcome& outcome : allowed) {
    const bool asked = own.asks_for(outcome);
    asked_allowed = asked_allowed || asked;
    table.add({{outcome_text(test, own, outcome), asked ? Colour::bold : Colour::none},
               std::to_string(count_of(point, "litmus.seen." + own.outcome_name(outcome))),
               std::string(asked ? "asked about" : "") +
                   (sequential.contains(outcome) ? "" : std::string(asked ? ", " : "") + "no interleaving gives it")});
  }
  const std::int64_t rounds = count_of(point, "litmus.rounds");
  std::cout << "  " << paint(Colour::bold, visible_name(test.name)) << "  " << visible_name(test.condition) << "\n"
            << paragraph(verdict_text(test, asked_allowed, count_of(point, "litmus.asked"), rounds), 2, Colour::none, paint)
            << "\n"
            << table.text()
            << fmt::format("\n  Outcomes that {} forbids: seen {} times.\n", test.consistency,
                           count_of(point, "litmus.forbidden"));
  if (!test.doubt.empty()) std::cout << paragraph(test.doubt, 2, Colour::yellow, paint);
}

}  // namespace

ExitCode import_litmus(const ImportArguments& arguments, const Form&) {
  const fs::path in = arguments.files.front();
  const fs::path out = output_of(arguments, ".toml");
  const HerdTest test = read_herd_test(read_text(in), in.string());
  const std::string text = experiment_text(test, out.stem().string(), in.filename().string());
  write_file(out, text);
  const Plan plan = make_plan(read_unexpanded(text, out.string(), {}));
  RunOptions options;
  options.directory = fs::path("out") / out.stem();
  options.fresh = true;
  const RunReport report = run_with_progress(plan, options, test.name, true);
  print_failures(plan, report, options.directory);
  if (report.code != ExitCode::done) return report.code;
  const Painter paint = painter_for_stdout();
  print_outcomes(test, report.results.points.front(), paint);
  std::cout << fmt::format("\n  {}  of {}: an experiment; linebounce run {} --set machine.cpu.consistency=sc, and the like\n",
                           out.string(), in.string(), shell_word(out.string()));
  return ExitCode::done;
}

}  // namespace linebounce::sim
