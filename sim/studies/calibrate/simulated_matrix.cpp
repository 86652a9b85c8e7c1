#include "sim/studies/calibrate/simulated_matrix.hpp"

#include <algorithm>

#include "models/machine_layout.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/plan/shared_array.hpp"
#include "sim/studies/calibrate/simulated_apart.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

constexpr const char* kMatrixWorkload = "core_to_core";

// The more nodes, the more pairs a block has. Of a large machine the whole matrix is simulated only to be compared.
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

// Sums of a pair, both directions together: at home with the pair, and all.
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
