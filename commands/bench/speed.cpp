#include "commands/bench/speed.hpp"

#include <chrono>

#include "commands/bench/functional_machine.hpp"
#include "models/machine/machine.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

// A listener that does almost nothing, so that the measured time contains the simulation's calls of a listener, but no
// listener's work.
class MissCounter final : public Observer {
 public:
  void miss(const Miss&) override { ++count; }
  std::int64_t count = 0;
};

std::vector<ReferenceStream> make_streams(const BenchCase& bench_case, LineStore& store, int cpus) {
  AddressSpace memory(store);
  const Address shared = memory.place_array("shared", ReferenceStream::kSharedLines * store.line_bytes());
  std::vector<ReferenceStream> streams;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const Address area = memory.place_array("private" + std::to_string(cpu), ReferenceStream::private_bytes());
    streams.emplace_back(bench_case, cpu, area, shared, store.line_bytes());
  }
  return streams;
}

template <class Work>
double seconds(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double functional_seconds(const BenchCase& bench_case, const MachineSpec& spec, const Protocol& protocol) {
  FunctionalMachine machine(spec, protocol);
  std::vector<ReferenceStream> streams = make_streams(bench_case, machine.store(), spec.cpus);
  std::vector<FunctionalMachine::Processor> processors;
  for (int cpu = 0; cpu < spec.cpus; ++cpu) processors.emplace_back(machine, cpu);
  const std::int64_t rounds = bench_case.references / spec.cpus;
  return seconds([&] {
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (std::size_t cpu = 0; cpu < streams.size(); ++cpu) streams[cpu].step(processors[cpu]);
    }
  });
}

}  // namespace

std::span<const BenchCase> bench_cases() {
  static const std::vector<BenchCase> kCases = {
      {.name = "private", .shared_per_mille = 0, .atomic_per_mille = 0, .references = 16'000'000},
      {.name = "mixed", .shared_per_mille = 100, .atomic_per_mille = 0, .references = 8'000'000},
      {.name = "contended", .shared_per_mille = 1000, .atomic_per_mille = 500, .references = 2'000'000},
  };
  return kCases;
}

BenchResult run_bench_case(const BenchCase& bench_case, const MachineSpec& spec, const MachineProtocols& protocols,
                           bool timed_only) {
  MissCounter misses;
  Machine machine(spec, protocols, {}, 0, 0, misses);
  std::vector<ReferenceStream> streams = make_streams(bench_case, machine.store(), spec.cpus);
  const std::int64_t each = bench_case.references / spec.cpus;
  for (int cpu = 0; cpu < spec.cpus; ++cpu) {
    machine.set_program(cpu, [&stream = streams[cpu], each](Cpu& thread) {
      for (std::int64_t i = 0; i < each; ++i) stream.step(thread);
    });
  }
  const auto references = static_cast<double>(each * spec.cpus);
  BenchResult result{.name = bench_case.name, .cpus = spec.cpus};
  if (!timed_only) result.functional_refs_per_s = references / functional_seconds(bench_case, spec, protocols.bus);
  const double timed = seconds([&] { machine.run(); });
  result.timed_refs_per_s = references / timed;
  if (!timed_only) result.ratio = result.timed_refs_per_s / result.functional_refs_per_s;
  result.transactions_per_s = static_cast<double>(misses.count) / timed;
  if (misses.count * 1000 > each) {
    result.kernel_events_per_transaction = static_cast<double>(machine.turns()) / static_cast<double>(misses.count);
  }
  return result;
}

}  // namespace linebounce::sim
