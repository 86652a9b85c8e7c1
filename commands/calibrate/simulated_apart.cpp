#include "commands/calibrate/simulated_apart.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "models/machine_layout.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/plan/process_pool.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/numbers.hpp"
#include "sim/simulation/simulate.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

[[noreturn]] void raise(const Failure& failure) {
  if (failure.code == ExitCode::interrupted) throw Interrupted();
  if (failure.code == ExitCode::usage) throw ConfigError(failure.message);
  throw SimulationFailure(failure.message);
}

constexpr double kLockWarmupUs = 20;
constexpr double kLockMeasureUs = 200;
constexpr int kFewCpus = 16;  // up to this many CPUs, each pair is measured more often; with more, a block has many pairs

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

// Simulates `input` in a process of its own, which calls `collect`. Returns the first `most` numbers that it found.
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

constexpr const char* kMatrixWorkload = "core_to_core";

// More nodes mean more pairs in each block, so fewer repetitions suffice. A machine with more than kLarge CPUs is never
// fitted as a whole, only compared.
std::int64_t repetitions_for(const MachineSpec& machine) {
  constexpr int kLarge = 64;
  return machine.cpus > kLarge ? 2 : std::clamp(16 / machine.nodes, 4, 8);
}

Parameters parameters_of(const std::string& access, int home, const MachineSpec& machine) {
  return parameters_with(kMatrixWorkload, {{"states", std::string("modified")},
                                           {"access", access},
                                           {"homes", home < 0 ? std::string("near") : std::to_string(home)},
                                           {"repetitions", repetitions_for(machine)}});
}

// Sums over both directions of a pair: `near` for lines with their home at one of the two CPUs' nodes, `all` for lines with
// any home.
struct Sums {
  double near = 0, all = 0;
  int near_rows = 0, rows = 0;
};

LatencyMatrix matrix_of(const std::vector<MatrixRow>& rows, const MachineLayout& layout) {
  const int cpus = static_cast<int>(layout.cpus.size());
  const auto node = [&layout](std::int64_t cpu) { return layout.cpus[cpu].node; };
  std::map<std::pair<int, int>, Sums> pairs;
  for (const MatrixRow& row : rows) {
    const auto [low, high] = std::minmax(row.from_cpu, row.to_cpu);
    Sums& sums = pairs[{static_cast<int>(low), static_cast<int>(high)}];
    sums.all += row.latency_ns;
    ++sums.rows;
    if (row.home_node != node(low) && row.home_node != node(high)) continue;
    sums.near += row.latency_ns;
    ++sums.near_rows;
  }
  LatencyMatrix matrix(cpus);
  for (const auto& [pair, sums] : pairs) {
    matrix.set(pair.first, pair.second, sums.near_rows > 0 ? sums.near / sums.near_rows : sums.all / sums.rows);
  }
  return matrix;
}

void write_to(SharedArray<double>& numbers, std::size_t first, const LatencyMatrix& matrix) {
  for (int a = 0; a < matrix.cpus(); ++a) {
    for (int b = 0; b < a; ++b) numbers[first++] = matrix.at(a, b);
  }
}

LatencyMatrix read_from(SharedArray<double>& numbers, std::size_t first, int cpus) {
  LatencyMatrix matrix(cpus);
  for (int a = 0; a < cpus; ++a) {
    for (int b = 0; b < a; ++b) matrix.set(a, b, numbers[first++]);
  }
  return matrix;
}

}  // namespace

Parameters parameters_with(const std::string& workload, const std::map<std::string, ParameterValue>& changed) {
  std::map<std::string, ParameterValue> values;
  for (const auto& parameter : find_workload(workload).parameters) values[parameter.name] = parameter.default_value;
  for (const auto& [name, value] : changed) values.at(name) = value;
  return Parameters(std::move(values));
}

void simulate_apart(const std::vector<SimulationInput>& inputs, int at_once,
                    const std::function<void(std::size_t number, const PointData&)>& keep,
                    const std::function<void(int ended)>& tick) {
  Failure failure;
  int ended = 0;
  {
    InterruptGuard guard;
    const PoolCallbacks callbacks = {
        .work = [&](int job, const std::function<void(double)>& progress) { keep(job, simulate(inputs[job], progress)); },
        .finished =
            [&](int, const JobOutcome& outcome) {
              failure = outcome.failure;
              ++ended;
              return failure.code == ExitCode::done;
            },
        .tick = [&](const std::vector<RunningJob>&) { tick(ended); },
    };
    run_in_processes(static_cast<int>(inputs.size()), at_once, guard, callbacks);
    if (guard.interrupted()) throw Interrupted();
  }
  if (failure.code != ExitCode::done) raise(failure);
}

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
  const std::size_t pairs = cpus * (cpus - 1);
  const std::size_t most = kColumns * kStates * pairs * std::max(2, input.machine.nodes);
  static const std::vector<std::string> kNames = {"Modified", "Exclusive", "Shared"};
  const std::vector<double> found = simulated_numbers(input, most, [](const PointData& point) {
    std::vector<double> values;
    for (const MatrixRow& row : point.matrix) {
      const auto state = std::ranges::find(kNames, row.state) - kNames.begin();
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

std::vector<std::vector<double>> simulate_contended(const MachineTables& machine, const std::vector<Changes>& candidates,
                                                    const ContendedLines& lines, int at_once) {
  const std::map<std::string, ParameterValue> parameters = {{"measurements", lines.measurements},
                                                            {"window_us", lines.window_us}};
  std::vector<SimulationInput> inputs;
  for (const Changes& changes : candidates) {
    MachineTables changed = machine;
    for (const auto& [path, value] : changes) changed.settings.at(path).value = value;
    inputs.push_back(workload_on(changed, "contended_line", parameters));
  }
  SharedArray<double> numbers(lines.count * inputs.size());
  simulate_apart(inputs, at_once, [&](std::size_t number, const PointData& data) {
    for (std::size_t i = 0; i < lines.count; ++i) {
      const auto found = data.metrics.find(fmt::format("contended_line.{}.ns", i));
      if (found != data.metrics.end()) numbers[number * lines.count + i] = as_double(found->second.value);
    }
  });
  std::vector<std::vector<double>> costs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double* const first = &numbers[i * lines.count];
    costs.emplace_back(first, first + lines.count);
  }
  return costs;
}

void put(Settings& settings, const Values& values) {
  for (const auto& [path, value] : values) settings.at(path).value = canonical(value);
}

MatrixSimulator::MatrixSimulator(MachineTables machine, Measurement measurement, int at_once, std::function<void(int)> tick)
    : machine_(std::move(machine)),
      measurement_(std::move(measurement)),
      at_once_(at_once),
      tick_(std::move(tick)),
      protocols_(load_protocols(to_typed(machine_.settings, machine_.parts).machine)) {}

SimulationInput MatrixSimulator::input_of(const Values& values) const {
  Settings settings = machine_.settings;
  put(settings, values);
  SimulationInput input;
  input.machine = to_typed(settings, machine_.parts).machine;
  check_machine(input.machine, settings);
  input.protocols = protocols_;
  input.workload = kMatrixWorkload;
  input.parameters = parameters_of(measurement_.access, measurement_.home, input.machine);
  return input;
}

std::vector<LatencyMatrix> MatrixSimulator::operator()(const std::vector<Values>& candidates) {
  std::vector<SimulationInput> inputs;
  for (const Values& values : candidates) inputs.push_back(input_of(values));
  const std::size_t cpus = inputs.front().machine.cpus;
  const std::size_t size = cpus * (cpus - 1) / 2;
  SharedArray<double> numbers(size * inputs.size());
  simulate_apart(
      inputs, at_once_,
      [&](std::size_t number, const PointData& data) {
        write_to(numbers, number * size, matrix_of(data.matrix, lay_out(inputs[number].machine)));
      },
      [this](int ended) { tick_(simulated_ + ended); });
  simulated_ += static_cast<int>(inputs.size());
  std::vector<LatencyMatrix> matrices;
  for (std::size_t i = 0; i < inputs.size(); ++i) matrices.push_back(read_from(numbers, i * size, static_cast<int>(cpus)));
  return matrices;
}

}  // namespace linebounce::sim
