#include "commands/check/check_random.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands/check/mutation.hpp"
#include "commands/check/run_cases.hpp"
#include "commands/common/common_options.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/progress_line.hpp"
#include "sim/terminal/run_report.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kFoundBy = "Found by linebounce check --random";  // begins the titles of the experiments that it writes
constexpr std::int64_t kReferencesOfRound = 20'000;
constexpr std::int64_t kComparedRounds = 10;  // every tenth round is compared

struct RandomFailure {
  std::int64_t round = 0;
  RandomCase found;
  Shrunk shrunk;
  fs::path file;
};

struct RandomOutcome {
  std::int64_t references = 0;
  std::int64_t rounds = 0;  // rounds that passed
  std::int64_t compared = 0;
  std::int64_t too_slow = 0;    // rounds that are due for comparison but too slow for it
  std::uint64_t data_hash = 0;  // hash over the data of all compared rounds, in order
  std::optional<RandomFailure> failure;
  bool interrupted = false;
};

class RandomCheck {
 public:
  RandomCheck(const RandomArguments& arguments, const RandomBase& base)
      : arguments_(arguments), base_(base), progress_("check --random " + base.spec.name, true) {}

  RandomOutcome run() {
    while (outcome_.references < arguments_.reference_count() && !outcome_.failure && !guard_.interrupted()) {
      const std::int64_t missing = arguments_.reference_count() - outcome_.references;
      play((missing + kReferencesOfRound - 1) / kReferencesOfRound);
    }
    outcome_.interrupted = guard_.interrupted();
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] RandomCase case_of(std::int64_t round) const {
    return random_case(base_, arguments_.seed, round, std::min(kReferencesOfRound, arguments_.reference_count()));
  }

  static bool compares(std::int64_t round) { return round % kComparedRounds == 0; }

  void play(std::int64_t rounds) {
    std::vector<CaseRun> runs;
    for (std::int64_t round = next_; round < next_ + rounds; ++round) {
      runs.push_back({[this, round] { return case_of(round); }, compares(round)});
    }
    const CaseLimits limits{.at_once = arguments_.at_once};
    const std::vector<CaseResult> results = run_cases(base_, runs, limits, guard_, [&](double ended) { show(ended, rounds); });
    for (const CaseResult& result : results) take(result);
    if (!guard_.interrupted() && !outcome_.failure) next_ = outcome_.rounds;
  }

  void take(const CaseResult& result) {
    const std::int64_t round = outcome_.rounds;
    if (result.verdict == Verdict::refused) throw ConfigError(result.failure.message);
    if (result.verdict == Verdict::passed) {
      outcome_.references += result.references;
      outcome_.data_hash = outcome_.data_hash * 31 + result.data_hash;
      outcome_.compared += result.compared ? 1 : 0;
      outcome_.too_slow += compares(round) && !result.compared ? 1 : 0;
      ++outcome_.rounds;
    } else {
      make_small(round, result);
    }
  }

  void make_small(std::int64_t round, const CaseResult& result) {
    const RandomCase found = case_of(round);
    Shrunk shrunk = shrink(base_, found, result, arguments_.shrink_seconds, guard_);
    const std::string name = fmt::format("random_{}_{}_{}", base_.spec.name, arguments_.seed, round);
    const fs::path file = fs::path(arguments_.directory) / (name + ".toml");
    const std::string title =
        fmt::format("{} --machine {} --seed {}, round {}", kFoundBy, base_.spec.name, arguments_.seed, round);
    if (arguments_.directory != kCurrentFolder) make_own_directory(arguments_.directory);
    replace_own_file(file, experiment_text(base_, shrunk.smallest, name, title), kFoundBy);
    outcome_.failure = {round, found, std::move(shrunk), file};
  }

  void show(double ended, std::int64_t rounds) {
    const double all = static_cast<double>(next_ + rounds);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
    progress_.show({0, 0, (static_cast<double>(next_) + ended) / all, elapsed.count()});
  }

  const RandomArguments& arguments_;
  const RandomBase& base_;
  ProgressLine progress_;
  InterruptGuard guard_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  RandomOutcome outcome_;
  std::int64_t next_ = 0;  // the next round to start
};

const char* verdict_name(Verdict verdict) {
  return verdict == Verdict::differs ? "differs" : "failed";
}

std::string rerun_command(const RandomFailure& failure) {
  const std::string run = fmt::format("linebounce run {}", failure.file.string());
  if (failure.shrunk.result.verdict != Verdict::differs) return run;
  return run + " -o out/with; " + run +
         " -o out/without --set engine.run_ahead=false --set engine.parked_spins=false --set engine.reverse_construction=true";
}

ordered_json failure_json(const RandomBase& base, const std::optional<RandomFailure>& failure) {
  if (!failure) return nullptr;
  const RandomCase& smallest = failure->shrunk.smallest;
  ordered_json settings = ordered_json::object();
  for (const CaseSetting& setting : smallest.settings) settings[setting.path] = value_to_json(setting.value);
  return {{"round", failure->round},
          {"verdict", verdict_name(failure->shrunk.result.verdict)},
          {"exit_code", static_cast<int>(failure->shrunk.result.failure.code)},
          {"text", failure->shrunk.result.failure.message},
          {"cpus", cpus_of(base, smallest)},
          {"operations", smallest.operations},
          {"seed", smallest.seed},
          {"settings", std::move(settings)},
          {"file", failure->file.string()},
          {"command", rerun_command(*failure)}};
}

ordered_json outcome_json(const RandomArguments& arguments, const RandomBase& base, const RandomOutcome& outcome) {
  return {{"machine", base.spec.name},
          {"seed", arguments.seed},
          {"passed", !outcome.failure},
          {"references", outcome.references},
          {"rounds", outcome.rounds},
          {"compared_rounds", outcome.compared},
          {"too_slow_rounds", outcome.too_slow},
          {"data_hash", fmt::format("{:016x}", outcome.data_hash)},
          {"failure", failure_json(base, outcome.failure)}};
}

std::string case_size(const RandomBase& base, const RandomCase& tried) {
  const int cpus = cpus_of(base, tried);
  return fmt::format("{} CPU{}, {} operations each, {} settings changed", cpus, cpus == 1 ? "" : "s", tried.operations,
                     tried.settings.size());
}

std::string failure_page(const RandomArguments& arguments, const RandomBase& base, const RandomFailure& failure,
                         const Painter& paint) {
  const Shrunk& shrunk = failure.shrunk;
  std::string out = fmt::format("  {}  round {} of seed {}\n\n{}\n\n", paint(Colour::red, "failed"), failure.round,
                                arguments.seed, shrunk.result.failure.message);
  out += fmt::format("  found     {}\n", case_size(base, failure.found));
  out += fmt::format("  smallest  {}{}\n\n", case_size(base, shrunk.smallest),
                     shrunk.finished ? "" : " (the time was up: --shrink-seconds)");
  for (const CaseSetting& setting : shrunk.smallest.settings) {
    out += fmt::format("    {} = {}\n", setting.path, plain_text(setting.value));
  }
  return out + fmt::format("\n  To run it again:\n    {}\n", rerun_command(failure));
}

std::string outcome_page(const RandomArguments& arguments, const RandomBase& base, const RandomOutcome& outcome,
                         const Painter& paint) {
  std::string out = titled(base.spec.name, base.spec.title, paint) + "\n";
  out += fmt::format("  {} references in {}, each with another mutation of the machine; {} of them also with the\n",
                     outcome.references, plural(static_cast<std::uint64_t>(outcome.rounds), "round"), outcome.compared);
  out += "  engine's speed-ups off";
  if (outcome.too_slow > 0) out += fmt::format("; {} more took too long without them, and were not compared", outcome.too_slow);
  out += "\n";
  if (outcome.failure) return out + failure_page(arguments, base, *outcome.failure, paint);
  return out + "  " + paint(Colour::green, "passed") + "  every value that was read may be read there, and nothing stopped\n";
}

}  // namespace

const char* const kRandomFooter = R"(
With --random, a machine is tested instead of a protocol proved. Random loads, stores and atomics run in rounds of 20 000 (without
those that CPUs make while they wait), and every loaded value is checked. Each round varies the machine: tiny caches, latencies,
buffers, clocks, topology, placement, CPUs, threads, memory model; its protocols stay. Every tenth round runs again without the
engine's speed-ups and must give the same data. The same seed gives the same test. A failing case is shrunk as long as it still
fails, and written as an experiment.

  linebounce check --random 100000 --machine numaq_16way
  linebounce check --random 1e6 --machine my_machine.toml --seed 7 --json
  linebounce check --random 100000 --machine x445_8way --set machine.node.protocol=broken_node.md)";

bool RandomArguments::wanted(const std::string& protocol) const {
  if (!references && protocol.empty()) throw UsageError("PROTOCOL, or --random REFS with --machine NAME, is required");
  if (references && !protocol.empty()) throw UsageError("--random tests a machine, not a protocol: leave out " + protocol);
  if (references && machine.empty()) throw UsageError("--random needs --machine NAME, the machine to test");
  return references.has_value();
}

std::shared_ptr<RandomArguments> add_random_options(Command& command) {
  const auto arguments = std::make_shared<RandomArguments>();
  arguments->at_once = available_cores();
  const std::string group = "Random tests";
  command.option("--random", "REFS", &arguments->references, "Test a machine with at least this many random references")
      .between_reals(1, 1e12)
      .group(group);
  command.option("--machine", "NAME", &arguments->machine, "A name (see: linebounce list machines), or a file")
      .group(group)
      .belongs_to({"--random"});
  command.option("--seed", "N", &arguments->seed, "Seed of the test; default: 1")
      .between(0, kLargestSeed)
      .group(group)
      .belongs_to({"--random"});
  command.option("--set", "PATH=VALUE", &arguments->sets, "A value fixed in every round; may be repeated")
      .settings()
      .group(group)
      .belongs_to({"--random"});
  command
      .option("-o,--output", "DIR", &arguments->directory, "Where to write a failure's experiment; default: the current folder")
      .own_directory()
      .group(group)
      .belongs_to({"--random"});
  add_jobs(command, arguments->at_once).group(group).belongs_to({"--random"});
  command.option("--shrink-seconds", "SECONDS", &arguments->shrink_seconds, "How long to shrink a failure; default: 60")
      .between(0, 1'000'000)
      .group(group)
      .belongs_to({"--random"});
  return arguments;
}

ExitCode check_random(const RandomArguments& arguments) {
  const RandomBase base = random_base(arguments.machine, split_sets(arguments.sets));
  const RandomOutcome outcome = RandomCheck(arguments, base).run();
  if (outcome.interrupted && !outcome.failure) return ExitCode::interrupted;
  if (arguments.json) {
    std::cout << outcome_json(arguments, base, outcome).dump(1) << "\n";
  } else {
    std::cout << outcome_page(arguments, base, outcome, painter_for_stdout());
  }
  return outcome.failure ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace linebounce::sim
