#include "sim/studies/calibrate/simulated_matrix.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "models/machine_layout.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/plan/process_pool.hpp"
#include "sim/point/config_error.hpp"
#include "sim/simulation/simulate.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

constexpr const char* kMatrixWorkload = "core_to_core";

// Doubles that a child process writes and its parent reads.
class SharedNumbers {
 public:
  explicit SharedNumbers(std::size_t count) : bytes_(count * sizeof(double)) {
    void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    numbers_ = static_cast<double*>(memory);
  }
  ~SharedNumbers() { ::munmap(numbers_, bytes_); }
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;

  double& operator[](std::size_t i) { return numbers_[i]; }

 private:
  std::size_t bytes_;
  double* numbers_;
};

// The more nodes, the more pairs a block has. Of a large machine the whole matrix is simulated only to be compared.
std::int64_t repetitions_for(const MachineSpec& machine) {
  constexpr int kLarge = 64;
  return machine.cpus > kLarge ? 2 : std::clamp(16 / machine.nodes, 4, 8);
}

Parameters parameters_of(const std::string& access, int home, const MachineSpec& machine) {
  std::map<std::string, ParameterValue> values;
  for (const WorkloadEntry& entry : all_workloads()) {
    if (entry.name != std::string_view(kMatrixWorkload)) continue;
    for (const ParameterDeclaration& parameter : entry.parameters) values[parameter.name] = parameter.default_value;
  }
  values["states"] = std::string("modified");
  values["access"] = access;
  values["homes"] = home < 0 ? std::string("near") : std::to_string(home);
  values["repetitions"] = repetitions_for(machine);
  return Parameters(std::move(values));
}

MachineProtocols protocols_of(const MachineSpec& machine) {
  const Protocol bus = load_protocol(machine.bus.protocol);
  if (!machine.has_nodes()) return bus;
  const Protocol directory = load_protocol(machine.directory.protocol);
  MachineProtocols loaded{bus, load_node_protocol(machine.node.protocol, bus, directory), directory};
  if (!machine.groups.empty()) loaded.group = load_group_protocol(machine.groups.front().protocol, directory);
  return loaded;
}

// Sums of a pair, both directions together: at home with the pair, and all.
struct Sums {
  double near = 0, all = 0;
  int near_rows = 0, rows = 0;
};

LatencyMatrix matrix_of(const std::vector<MatrixRow>& rows, const MachineLayout& layout) {
  const int cpus = static_cast<int>(layout.cpus.size());
  const auto node = [&layout](std::int64_t cpu) { return layout.cpus[static_cast<std::size_t>(cpu)].node; };
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

void write_to(SharedNumbers& numbers, std::size_t first, const LatencyMatrix& matrix) {
  for (int a = 0; a < matrix.cpus(); ++a) {
    for (int b = 0; b < a; ++b) numbers[first++] = matrix.at(a, b);
  }
}

LatencyMatrix read_from(SharedNumbers& numbers, std::size_t first, int cpus) {
  LatencyMatrix matrix(cpus);
  for (int a = 0; a < cpus; ++a) {
    for (int b = 0; b < a; ++b) matrix.set(a, b, numbers[first++]);
  }
  return matrix;
}

[[noreturn]] void raise(const Failure& failure) {
  if (failure.code == ExitCode::interrupted) throw Interrupted();
  if (failure.code == ExitCode::usage) throw ConfigError(failure.message);
  throw SimulationFailure(failure.message);
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
      protocols_(protocols_of(to_typed(machine_.settings, machine_.parts).machine)) {}

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
  const auto cpus = static_cast<std::size_t>(inputs.front().machine.cpus);
  const std::size_t size = cpus * (cpus - 1) / 2;
  SharedNumbers numbers(size * inputs.size());
  Failure failure;
  {
    InterruptGuard guard;
    const PoolCallbacks callbacks = {
        .work =
            [&](int job, const std::function<void(double)>& progress) {
              const auto number = static_cast<std::size_t>(job);
              const PointData data = simulate(inputs[number], progress);
              write_to(numbers, number * size, matrix_of(data.matrix, lay_out(inputs[number].machine)));
            },
        .finished =
            [&](int, const JobOutcome& outcome) {
              failure = outcome.failure;
              ++simulated_;
              return failure.code == ExitCode::done;
            },
        .tick = [&](double) { tick_(simulated_); },
    };
    run_in_processes(static_cast<int>(inputs.size()), at_once_, guard, callbacks);
    if (guard.interrupted()) throw Interrupted();
  }
  if (failure.code != ExitCode::done) raise(failure);
  std::vector<LatencyMatrix> matrices;
  for (std::size_t i = 0; i < inputs.size(); ++i) matrices.push_back(read_from(numbers, i * size, static_cast<int>(cpus)));
  return matrices;
}

}  // namespace linebounce::sim
