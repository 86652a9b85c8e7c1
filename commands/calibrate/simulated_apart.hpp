// Simulates in separate processes what a fit compares: the core-to-core matrix, and a machine's other costs.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands/calibrate/fit.hpp"
#include "commands/calibrate/latency_matrix.hpp"
#include "sim/config/machine_tables.hpp"
#include "sim/point/point_data.hpp"
#include "sim/point/simulation_input.hpp"
#include "workloads/program/parameters.hpp"

namespace linebounce::sim {

// Thrown if the user stops the command during simulations.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// The workload's defaults with these values replaced. REQUIRES: the workload has these parameters.
workloads::Parameters parameters_with(const std::string& workload,
                                      const std::map<std::string, workloads::ParameterValue>& changed);

// Simulates each input in a process of its own, `at_once` at a time. Calls `keep` in that process, to store results in shared
// memory (SharedArray), and `tick` in this one, several times a second, with the number of finished inputs. Errors:
// ConfigError for a machine that can't be built; SimulationFailure; Interrupted.
void simulate_apart(
    const std::vector<SimulationInput>& inputs, int at_once,
    const std::function<void(std::size_t number, const PointData&)>& keep,
    const std::function<void(int ended)>& tick = [](int) {});

// A machine's simulated costs besides its core-to-core matrix: what linebounce-probe measures.
struct LoadToUseCosts {
  std::vector<double> rings;    // in ns, in the order of the sizes
  std::map<int, double> nodes;  // in ns, by node with memory
};

// Each of the following runs in a process of its own. Errors: ConfigError for a machine that can't be built; SimulationFailure;
// Interrupted.

// Latencies of CPU 0's loads, from rings of these sizes and from each node's memory.
LoadToUseCosts simulate_load_to_use(const MachineTables& machine, const std::vector<int>& sizes_kib);

// Hand-offs of lines in every state: one row for each pair, state, and home near the pair.
std::vector<MatrixRow> simulate_hand_offs(const MachineTables& machine, const std::string& access);

// Time in ns from one owner of a ticket lock to the next, while all CPUs only acquire and release it.
double simulate_lock(const MachineTables& machine);

// Simulated measurements with the workload contended_line.
struct ContendedLines {
  std::string measurements;
  std::size_t count = 0;
  double window_us = 20;
};

// Values that replace a machine's own, by path. REQUIRES: the machine has the parameters.
using Changes = std::map<std::string, ConfigValue>;

// By candidate and measurement: the time between two operations in ns; 0 if no CPU completed one. Simulates `at_once`
// candidates at a time.
std::vector<std::vector<double>> simulate_contended(const MachineTables& machine, const std::vector<Changes>& candidates,
                                                    const ContendedLines& lines, int at_once);

// Replaces a machine's values. REQUIRES: the machine has the parameters.
void put(Settings& settings, const Values& values);

struct Measurement {
  std::string access = "atomic";  // the receiver's operation on the line
  int home = -1;                  // home node of all lines; -1: the nodes of each pair in turn
};

// Runs the workload core_to_core on Modified lines. Each candidate runs in a process of its own, `at_once` at a time. A
// pair's cost is the mean over both directions. If the measured line's home is unknown, it is the mean over two homes, too:
// the nodes of both CPUs, or any nodes if neither has memory. `tick` is called several times a second with the number of
// simulated candidates. Errors: ConfigError for a machine that can't be built; SimulationFailure; Interrupted.
class MatrixSimulator {
 public:
  MatrixSimulator(MachineTables machine, Measurement measurement, int at_once, std::function<void(int candidates)> tick);
  [[nodiscard]] std::vector<LatencyMatrix> operator()(const std::vector<Values>& candidates);

 private:
  [[nodiscard]] SimulationInput input_of(const Values& values) const;

  MachineTables machine_;
  Measurement measurement_;
  int at_once_;
  std::function<void(int candidates)> tick_;
  MachineProtocols protocols_;
  int simulated_ = 0;
};

}  // namespace linebounce::sim
