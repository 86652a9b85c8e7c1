#include "sim/studies/calibrate/simulated_costs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>

#include "models/machine_layout.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/plan/process_pool.hpp"
#include "sim/point/config_error.hpp"
#include "sim/simulation/simulate.hpp"
#include "sim/studies/calibrate/simulated_matrix.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

constexpr double kLockWarmupUs = 20;
constexpr double kLockMeasureUs = 200;
constexpr int kFewCpus = 16;  // with more of them, each pair is one of many

MachineProtocols protocols_for(const MachineSpec& machine) {
  const Protocol bus = load_protocol(machine.bus.protocol);
  if (!machine.has_nodes()) return bus;
  const Protocol directory = load_protocol(machine.directory.protocol);
  return {bus, load_node_protocol(machine.node.protocol, bus, directory), directory};
}

SimulationInput workload_on(const MachineTables& machine, const std::string& workload,
                            const std::map<std::string, ParameterValue>& changed) {
  SimulationInput input;
  input.machine = to_typed(machine.settings, machine.parts).machine;
  check_machine(input.machine, machine.settings);
  input.protocols = protocols_for(input.machine);
  input.workload = workload;
  std::map<std::string, ParameterValue> values;
  for (const WorkloadEntry& entry : all_workloads()) {
    if (entry.name != workload) continue;
    for (const ParameterDeclaration& parameter : entry.parameters) values[parameter.name] = parameter.default_value;
  }
  for (const auto& [name, value] : changed) values.at(name) = value;
  input.parameters = Parameters(std::move(values));
  return input;
}

using Collect = std::function<std::vector<double>(const PointData&)>;

// Runs it in a process of its own, which writes at most `most` numbers.
std::vector<double> simulated_numbers(const SimulationInput& input, std::size_t most, const Collect& collect) {
  const std::size_t bytes = (most + 1) * sizeof(double);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  const std::unique_ptr<void, std::function<void(void*)>> mapping(memory, [bytes](void* all) { ::munmap(all, bytes); });
  auto* numbers = static_cast<double*>(memory);
  Failure failure;
  InterruptGuard guard;
  const PoolCallbacks callbacks = {
      .work =
          [&](int, const std::function<void(double)>& progress) {
            const std::vector<double> found = collect(simulate(input, progress));
            const std::size_t count = std::min(most, found.size());
            numbers[0] = static_cast<double>(count);
            std::copy_n(found.begin(), count, numbers + 1);
          },
      .finished =
          [&](int, const JobOutcome& outcome) {
            failure = outcome.failure;
            return failure.code == ExitCode::done;
          },
      .tick = [](double) {},
  };
  run_in_processes(1, 1, guard, callbacks);
  if (guard.interrupted() || failure.code == ExitCode::interrupted) throw Interrupted();
  if (failure.code == ExitCode::usage) throw ConfigError(failure.message);
  if (failure.code != ExitCode::done) throw SimulationFailure(failure.message);
  return {numbers + 1, numbers + 1 + static_cast<std::ptrdiff_t>(numbers[0])};
}

double metric_value(const PointData& point, const std::string& name) {
  const auto& value = point.metrics.at(name).value;
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

}  // namespace

LoadToUseCosts simulate_load_to_use(const MachineTables& machine, const std::vector<int>& sizes_kib) {
  const SimulationInput input =
      workload_on(machine, "load_to_use", {{"rings_kib", fmt::format("{}", fmt::join(sizes_kib, " "))}});
  const std::vector<int> nodes = lay_out(input.machine).nodes_with_memory;
  std::vector<std::string> names;
  for (const int kib : sizes_kib) names.push_back(fmt::format("load_to_use.ring_of_{}_kib", kib));
  for (const int node : nodes) names.push_back(fmt::format("load_to_use.memory_of_node_{}", node));
  const std::vector<double> found = simulated_numbers(input, names.size(), [&names](const PointData& point) {
    std::vector<double> values;
    for (const std::string& name : names) values.push_back(metric_value(point, name));
    return values;
  });
  LoadToUseCosts costs;
  const auto past_rings = found.begin() + static_cast<std::ptrdiff_t>(sizes_kib.size());
  costs.rings.assign(found.begin(), past_rings);
  for (std::size_t i = 0; i < nodes.size(); ++i) costs.nodes[nodes[i]] = past_rings[static_cast<std::ptrdiff_t>(i)];
  return costs;
}

std::vector<MatrixRow> simulate_handovers(const MachineTables& machine, const std::string& access) {
  SimulationInput input = workload_on(machine, "core_to_core", {{"access", access}, {"homes", std::string("near")}});
  const int cpus = input.machine.cpus;
  input =
      workload_on(machine, "core_to_core",
                  {{"access", access}, {"homes", std::string("near")}, {"repetitions", std::int64_t{cpus > kFewCpus ? 1 : 4}}});
  constexpr std::size_t kColumns = 5;
  constexpr std::size_t kStates = 3;
  const auto pairs = static_cast<std::size_t>(cpus) * static_cast<std::size_t>(cpus - 1);
  const std::size_t most = kColumns * kStates * pairs * static_cast<std::size_t>(std::max(2, input.machine.nodes));
  static const std::vector<std::string> kNames = {"Modified", "Exclusive", "Shared"};
  const std::vector<double> found = simulated_numbers(input, most, [](const PointData& point) {
    std::vector<double> values;
    for (const MatrixRow& row : point.matrix) {
      const auto state = std::find(kNames.begin(), kNames.end(), row.state) - kNames.begin();
      values.insert(values.end(), {static_cast<double>(row.from_cpu), static_cast<double>(row.to_cpu),
                                   static_cast<double>(row.home_node), static_cast<double>(state), row.latency_ns});
    }
    return values;
  });
  std::vector<MatrixRow> rows;
  for (std::size_t i = 0; i + kColumns <= found.size(); i += kColumns) {
    MatrixRow row;
    row.from_cpu = static_cast<decltype(row.from_cpu)>(found[i]);
    row.to_cpu = static_cast<decltype(row.to_cpu)>(found[i + 1]);
    row.home_node = static_cast<decltype(row.home_node)>(found[i + 2]);
    row.state = kNames.at(static_cast<std::size_t>(found[i + 3]));
    row.latency_ns = found[i + 4];
    rows.push_back(row);
  }
  return rows;
}

double simulate_lock(const MachineTables& machine) {
  SimulationInput input = workload_on(machine, "critical_section",
                                      {{"lock", std::string("ticket")},
                                       {"data_lines", std::int64_t{1}},
                                       {"inside_cycles", std::int64_t{0}},
                                       {"outside_cycles", std::int64_t{0}}});
  input.run.warmup_us = kLockWarmupUs;
  input.run.measure_us = kLockMeasureUs;
  const std::string rate = "throughput.operations_per_s";
  const std::vector<double> found =
      simulated_numbers(input, 1, [&rate](const PointData& point) { return std::vector{metric_value(point, rate)}; });
  return found.front() > 0 ? 1e9 / found.front() : 0;
}

}  // namespace linebounce::sim
