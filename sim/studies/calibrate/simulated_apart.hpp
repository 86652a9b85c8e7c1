// Simulations in processes of their own, for figures that a fit wants: the core-to-core matrix, and what a machine costs
// beside.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/config/machine_tables.hpp"
#include "sim/point/point_data.hpp"
#include "sim/point/simulation_input.hpp"
#include "sim/studies/calibrate/fit.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"
#include "workloads/program/parameters.hpp"

namespace linebounce::sim {

// The user asked to stop while candidates were simulated.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// A workload's defaults with these in their place. REQUIRES: it has them.
workloads::Parameters parameters_with(const std::string& workload,
                                      const std::map<std::string, workloads::ParameterValue>& changed);

// Each input in a process of its own, `at_once` at a time. `keep` runs in that process, and leaves what is wanted in shared
// memory (SharedArray). `tick` is called several times a second with the number of those that have ended. Errors: ConfigError
// for a machine that can't be built; SimulationFailure; Interrupted.
void simulate_apart(
    const std::vector<SimulationInput>& inputs, int at_once,
    const std::function<void(std::size_t number, const PointData&)>& keep,
    const std::function<void(int ended)>& tick = [](int) {});

// What a machine costs beside its core-to-core matrix: what linebounce-probe measures, simulated.
struct LoadToUseCosts {
  std::vector<double> rings;    // ns, in the order of the sizes
  std::map<int, double> nodes;  // ns, by node with memory
};

// Each runs in a process of its own. Errors: ConfigError for a machine that can't be built; SimulationFailure; Interrupted.

// By CPU 0, of rings of these sizes and of each node's memory.
LoadToUseCosts simulate_load_to_use(const MachineTables& machine, const std::vector<int>& sizes_kib);

// Of lines in every state: a row for each pair, home near it and state.
std::vector<MatrixRow> simulate_hand_offs(const MachineTables& machine, const std::string& access);

// From one owner of a ticket lock to the next, of all CPUs, which do nothing else: ns.
double simulate_lock(const MachineTables& machine);

// Measurements of the workload contended_line.
struct ContendedLines {
  std::string measurements;
  std::size_t count = 0;
  double window_us = 20;
};

// Values put over a machine's own, by path. REQUIRES: the machine has the parameters.
using Changes = std::map<std::string, ConfigValue>;

// Each measurement's time from one operation to the next in ns, by candidate; 0 where nobody came through. `at_once` candidates
// are simulated at a time.
std::vector<std::vector<double>> simulate_contended(const MachineTables& machine, const std::vector<Changes>& candidates,
                                                    const ContendedLines& lines, int at_once);

// A value put over a machine's own. REQUIRES: the machine has the parameter.
void put(Settings& settings, const Values& values);

struct Measurement {
  std::string access = "atomic";  // what the receiver does with the line
  int home = -1;                  // the node of all lines; -1: of each pair's own nodes one after the other
};

// Runs the workload core_to_core on Modified lines, each candidate in a process of its own, `at_once` at a time. A pair's cost
// is the mean of both directions and, where the matrix does not show where the measured program's line was at home, of lines
// that are at home with either CPU (on any node, if neither has memory). `tick` is called several times a second with the
// number of candidates that have been simulated. Errors: ConfigError for a machine that can't be built; SimulationFailure;
// Interrupted.
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
