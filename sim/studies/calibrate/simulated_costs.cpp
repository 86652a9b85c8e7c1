#include "sim/studies/calibrate/simulated_costs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "models/machine_layout.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/plan/shared_array.hpp"
#include "sim/results/numbers.hpp"
#include "sim/studies/calibrate/simulated_apart.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

constexpr double kLockWarmupUs = 20;
constexpr double kLockMeasureUs = 200;
constexpr int kFewCpus = 16;  // with more of them, each pair is one of many

SimulationInput workload_on(const MachineTables& machine, const std::string& workload,
                            const std::map<std::string, ParameterValue>& changed) {
  SimulationInput input;
  input.machine = to_typed(machine.settings, machine.parts).machine;
  check_machine(input.machine, machine.settings);
  input.protocols = load_protocols(input.machine);
  input.workload = workload;
  input.parameters = parameters_with(workload, changed);
  return input;
}

using Collect = std::function<std::vector<double>(const PointData&)>;

// Runs it in a process of its own, which writes at most `most` numbers.
std::vector<double> simulated_numbers(const SimulationInput& input, std::size_t most, const Collect& collect) {
  SharedArray<double> numbers(most + 1);
  simulate_apart({input}, 1, [&](std::size_t, const PointData& data) {
    const std::vector<double> found = collect(data);
    const std::size_t count = std::min(most, found.size());
    numbers[0] = static_cast<double>(count);
    std::copy_n(found.begin(), count, &numbers[1]);
  });
  return {&numbers[1], &numbers[1] + static_cast<std::ptrdiff_t>(numbers[0])};
}

double metric_value(const PointData& point, const std::string& name) {
  return as_double(point.metrics.at(name).value);
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

std::vector<MatrixRow> simulate_hand_offs(const MachineTables& machine, const std::string& access) {
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
