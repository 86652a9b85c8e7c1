#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/bench/speed.hpp"
#include "commands/common/command.hpp"
#include "forms/synth.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/simulation/simulate.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

// kOneBus runs the cases with one bus, kNodes those with several nodes. A case uses as many of the machine's CPUs as it needs.
constexpr const char* kOneBus = "p3_xeon_4way";
constexpr const char* kNodes = "numaq_16way";
constexpr const char* kReplay = "replay";
constexpr std::int64_t kReplayReferences = 16'000'000;
struct LoadShape {
  int cpus;
  int nodes;  // 0: one bus
};
constexpr std::array kShapes = {LoadShape{4, 0},  LoadShape{8, 0},  LoadShape{16, 0}, LoadShape{8, 2},
                                LoadShape{16, 4}, LoadShape{32, 8}, LoadShape{64, 16}};

MachineSpec machine_of(const LoadShape& shape) {
  MachineSpec spec = load_machine(shape.nodes == 0 ? kOneBus : kNodes).spec;
  spec.cpus = spec.cpus_present = shape.cpus;
  spec.nodes = std::max(1, shape.nodes);
  return spec;
}

constexpr const char* kBenchFooter = R"(
Each case runs in one process, first functional-only, then timed. The ratio of the two speeds shows what timing costs,
and is more stable than either speed on a shared machine.

  private    all references hit the CPU's own caches
  mixed      one in ten goes to 16 shared lines; half of those are writes
  contended  all go to those lines; half are writes, half of the writes atomic

  replay     a trace of private references, read, decompressed and replayed on one CPU;
             functional-only reads it without replaying

The CPUs share one bus, or are four to a node with a bus each, so that a miss passes several controllers.

Examples:
  linebounce bench
  linebounce bench --case contended --cpus 8 --json)";

// Runs `work` in a child process, so that no case runs in memory that earlier cases have used.
nlohmann::ordered_json run_in_child(const std::function<nlohmann::ordered_json()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("bench: no pipe can be made");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("bench: no process can be started");
  if (child == 0) {
    std::string text;
    ExitCode code = ExitCode::done;
    try {
      text = work().dump();
    } catch (...) {
      const Failure failure = describe_current_exception();
      text = failure.message;
      code = failure.code;
    }
    const bool written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(static_cast<int>(written ? code : ExitCode::internal_bug));
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0 || (n < 0 && errno == EINTR);)
    text.append(buffer.data(), std::max<ssize_t>(n, 0));
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) throw FailedElsewhere(describe_signal(WTERMSIG(status)));
  if (const auto code = static_cast<ExitCode>(WEXITSTATUS(status)); code != ExitCode::done) throw FailedElsewhere({code, text});
  return nlohmann::ordered_json::parse(text);
}

// The name of a temporary file. The destructor deletes the file, even if writing it failed.
class TemporaryName {
 public:
  TemporaryName() : file_(fs::temp_directory_path() / fmt::format("linebounce-bench-{}.lbt", ::getpid())) {}
  ~TemporaryName() {
    std::error_code ignored;
    fs::remove(file_, ignored);
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  [[nodiscard]] const fs::path& file() const { return file_; }

 private:
  fs::path file_;
};

// A temporary trace file, which the destructor deletes.
class TemporaryTrace {
 public:
  explicit TemporaryTrace(std::int64_t references) {
    SynthSpec spec;
    spec.threads = 1;
    spec.accesses = references;
    spec.shared_pct = spec.between_cycles = 0;
    trace::Writer writer(name_.file());
    write_synthetic(spec, writer);
    writer.finish({});
  }
  [[nodiscard]] const fs::path& file() const { return name_.file(); }

 private:
  TemporaryName name_;
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void read_all(const fs::path& file) {
  const trace::Reader reader(file);
  trace::Reader::Cursor cursor = reader.open(0);
  while (!cursor.frame().empty()) continue;
}

BenchResult run_replay_case(std::int64_t references) {
  const TemporaryTrace trace(references);
  const Plan plan =
      plan_of({.name = "bench", .title = "", .machine = kOneBus, .trace = trace.file(), .sets = {"machine.cpus=1"}});
  const SimulationInput input = plan.make_point(0).input;
  BenchResult result{.name = kReplay, .cpus = 1};
  const auto operations = static_cast<double>(references);
  result.functional_refs_per_s = operations / seconds_of([&] { read_all(trace.file()); });
  result.timed_refs_per_s = operations / seconds_of([&] { simulate(input); });
  result.ratio = result.timed_refs_per_s / result.functional_refs_per_s;
  return result;
}

nlohmann::ordered_json as_json(const BenchResult& result, int nodes) {
  return {{"name", result.name},
          {"cpus", result.cpus},
          {"nodes", std::max(1, nodes)},
          {"timed_refs_per_s", result.timed_refs_per_s},
          {"functional_refs_per_s", result.functional_refs_per_s},
          {"ratio", result.ratio},
          {"transactions_per_s", result.transactions_per_s},
          {"kernel_events_per_transaction", result.kernel_events_per_transaction}};
}

std::string as_row(const nlohmann::ordered_json& result) {
  const auto millions = [&result](const char* key) { return result[key].get<double>() / 1e6; };
  return fmt::format("  {:<11}{:>5}{:>7}{:>13.2f} M{:>13.2f} M{:>8.2f}{:>12.2f} M{:>14.2f}\n",
                     result["name"].get<std::string>(), result["cpus"].get<int>(), result["nodes"].get<int>(),
                     millions("timed_refs_per_s"), millions("functional_refs_per_s"), result["ratio"].get<double>(),
                     millions("transactions_per_s"), result["kernel_events_per_transaction"].get<double>());
}

struct BenchOptions {
  std::string only;
  int cpus = 0;   // 0: each number
  int nodes = 0;  // 0: each number; 1: one bus
  std::int64_t references = 0;
  bool timed_only = false;
  bool json = false;

  [[nodiscard]] bool wants(const LoadShape& shape) const {
    return (cpus == 0 || shape.cpus == cpus) && (nodes == 0 || std::max(1, shape.nodes) == nodes);
  }
};

constexpr LoadShape kReplayShape = {.cpus = 1, .nodes = 0};

// Errors: UsageError if no case has the wanted numbers of CPUs and nodes.
void require_case(const BenchOptions& options) {
  const bool replays = options.only.empty() || options.only == kReplay;
  const bool runs = options.only != kReplay;
  const auto is_wanted = [&](const LoadShape& shape) { return options.wants(shape); };
  if ((replays && is_wanted(kReplayShape)) || (runs && std::ranges::any_of(kShapes, is_wanted))) return;
  std::vector<std::string> shapes;
  if (replays) shapes.emplace_back("1 on 1 (replay)");
  for (const LoadShape& shape : kShapes) {
    if (runs) shapes.push_back(fmt::format("{} on {}", shape.cpus, std::max(1, shape.nodes)));
  }
  throw UsageError(fmt::format("--cpus and --nodes leave no case; legal, CPUs on nodes: {}", fmt::join(shapes, ", ")));
}

ExitCode run_bench(const BenchOptions& options) {
  require_case(options);
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  if (!options.json)
    std::cout << fmt::format("  {:<11}{:>5}{:>7}{:>15}{:>15}{:>8}{:>14}{:>14}\n", "case", "CPUs", "nodes", "timed refs/s",
                             "functional", "ratio", "transact./s", "events/trans.");
  const auto add = [&](const nlohmann::ordered_json& result) {
    cases.push_back(result);
    if (!options.json) std::cout << as_row(result) << std::flush;
  };
  for (BenchCase bench_case : bench_cases()) {
    if (!options.only.empty() && bench_case.name != options.only) continue;
    if (options.references > 0) bench_case.references = options.references;
    for (const LoadShape& shape : kShapes) {
      if (!options.wants(shape)) continue;
      const MachineSpec spec = machine_of(shape);
      const MachineProtocols protocols = load_protocols(spec);
      add(run_in_child([&] { return as_json(run_bench_case(bench_case, spec, protocols, options.timed_only), shape.nodes); }));
    }
  }
  if ((options.only.empty() || options.only == kReplay) && options.wants(kReplayShape)) {
    const std::int64_t number = options.references > 0 ? options.references : kReplayReferences;
    add(run_in_child([&] { return as_json(run_replay_case(number), 0); }));
  }
  if (options.json) std::cout << nlohmann::ordered_json{{"cases", cases}}.dump(1) << "\n";
  return ExitCode::done;
}

}  // namespace

void add_bench(Command& program) {
  const auto options = std::make_shared<BenchOptions>();
  Command bench = program.subcommand("bench", "Measure Linebounce's own speed", HelpGroup::publications);
  std::vector<std::string> names;
  for (const BenchCase& bench_case : bench_cases()) names.push_back(bench_case.name);
  names.emplace_back(kReplay);
  bench.option("--case", "NAME", &options->only, "Only this case").one_of(names);
  bench.option("--cpus", "1|4|8|16|32|64", &options->cpus, "Only this number of CPUs")
      .one_of({"1", "4", "8", "16", "32", "64"});
  bench.option("--nodes", "1|2|4|8|16", &options->nodes, "Only this number of nodes; 1: one bus")
      .one_of({"1", "2", "4", "8", "16"});
  bench
      .option("--references", "N", &options->references,
              "References in each run, over all CPUs; default: the case's own number")
      .between(std::int64_t{1000}, std::int64_t{1} << 40);
  bench.flag("--timed-only", options->timed_only, "Skip the functional-only mode, as for a profiler");
  bench.flag("--json", options->json, "Print one JSON document");
  bench.footer(kBenchFooter);
  bench.action([options] { return run_bench(*options); });
}

}  // namespace linebounce::sim
