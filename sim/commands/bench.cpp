#include "sim/bench/bench.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/commands/commands.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/protocol_file.hpp"

namespace linebounce {
namespace {

constexpr const char* kMachine = "p3_xeon_4way";  // its CPUs and bus, with as many CPUs as a case wants
constexpr std::array kCpus = {4, 8, 16};

constexpr const char* kFooter = R"(
Each case runs in one process, first functional-only, then timed: the ratio of the two says what time costs,
and repeats better than the speeds do on a machine that others use too.

  private    all references hit the own caches
  mixed      one in ten goes to 16 shared lines, half of those write
  contended  all go to those lines, half write, half of the writes are atomic

Examples:
  linebounce bench
  linebounce bench --case contended --cpus 8 --json)";

// A simulation can be built once in a process, so each case has one of its own.
nlohmann::ordered_json run_in_child(const std::function<nlohmann::ordered_json()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("bench: no pipe can be made");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("bench: no process can be started");
  if (child == 0) {
    const std::string text = work().dump();
    const bool written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error("bench: a case ended without a result");
  return nlohmann::ordered_json::parse(text);
}

nlohmann::ordered_json as_json(const BenchResult& result) {
  return {{"name", result.name},
          {"cpus", result.cpus},
          {"timed_refs_per_s", result.timed_refs_per_s},
          {"functional_refs_per_s", result.functional_refs_per_s},
          {"ratio", result.ratio},
          {"kernel_events_per_transaction", result.kernel_events_per_transaction}};
}

ExitCode run_bench(const std::string& only, int cpus, std::int64_t references, bool json) {
  const MachineSpec spec = load_machine(kMachine).spec;
  const Protocol protocol = load_protocol(spec.bus.protocol);
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  if (!json)
    std::cout << fmt::format("  {:<11}{:>5}{:>16}{:>16}{:>8}{:>18}\n", "case", "CPUs", "timed refs/s", "functional", "ratio",
                             "events/transact.");
  for (BenchCase bench_case : bench_cases()) {
    if (!only.empty() && bench_case.name != only) continue;
    if (references > 0) bench_case.references = references;
    for (const int count : kCpus) {
      if (cpus != 0 && count != cpus) continue;
      const auto result = run_in_child([&] { return as_json(run_bench_case(bench_case, spec, protocol, count)); });
      cases.push_back(result);
      if (json) continue;
      std::cout << fmt::format("  {:<11}{:>5}{:>14.2f} M{:>14.2f} M{:>8.2f}{:>18.2f}\n", bench_case.name, count,
                               result["timed_refs_per_s"].get<double>() / 1e6,
                               result["functional_refs_per_s"].get<double>() / 1e6, result["ratio"].get<double>(),
                               result["kernel_events_per_transaction"].get<double>())
                << std::flush;
    }
  }
  if (json) std::cout << nlohmann::ordered_json{{"cases", cases}}.dump(1) << "\n";
  return ExitCode::done;
}

}  // namespace

void add_bench(CLI::App& program, Invocation& invocation) {
  struct Options {
    std::string only;
    int cpus = 0;
    std::int64_t references = 0;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* bench = program.add_subcommand("bench", "Measure Linebounce's own speed");
  std::vector<std::string> names;
  for (const BenchCase& bench_case : bench_cases()) names.push_back(bench_case.name);
  bench->add_option("--case", options->only, "only this case")->check(CLI::IsMember(names))->type_name("NAME");
  bench->add_option("--cpus", options->cpus, "only this number of CPUs")->check(CLI::IsMember(kCpus))->type_name("4|8|16");
  bench->add_option("--references", options->references, "in each run, over all CPUs (default: a case's own number)")
      ->check(CLI::Range(std::int64_t{1000}, std::int64_t{1} << 40))
      ->type_name("N");
  bench->add_flag("--json", options->json, "one JSON document");
  bench->footer(kFooter);
  bench->callback([options, &invocation] {
    invocation.action = [options] { return run_bench(options->only, options->cpus, options->references, options->json); };
  });
}

}  // namespace linebounce
