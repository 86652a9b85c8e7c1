// The core-to-core matrix of a simulated machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/machine_tables.hpp"
#include "sim/point/simulation_input.hpp"
#include "sim/studies/calibrate/fit.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

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
