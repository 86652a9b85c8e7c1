// From a measured core-to-core matrix to a machine: structure, fit, and what is left.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/machine_tables.hpp"
#include "sim/studies/calibrate/blocks.hpp"
#include "sim/studies/calibrate/fit.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"
#include "sim/studies/calibrate/own_costs.hpp"
#include "sim/studies/calibrate/positions.hpp"
#include "sim/studies/calibrate/probe_file.hpp"

namespace linebounce::sim {

struct CalibrationRequest {
  std::string matrix_file;              // as the user named it: for sources and messages
  LatencyMatrix measured;               // CPUs as the file numbers them
  std::optional<std::string> machine;   // whose structure holds, and whose latencies are the start; none: the generic machine's
                                        // latencies, with the structure that the matrix shows
  std::string name;                     // of the new machine
  std::optional<ProbeFile> probe = {};  // all else that was measured; none: the file is a matrix alone
  std::string access = "atomic";        // what a simulated receiver does with the line
  std::optional<std::string> family = {};  // contention family; none: that of the probed processor, else the base machine's
  int at_once = 1;
  std::function<void(int candidates)> progress = [](int) {};  // how many have been simulated
};

struct FittedValue {
  std::string path;  // "bus.intervention_clocks"
  std::string unit;
  double before = 0, after = 0;
};

struct BlockResult {
  Block block;
  double measured = 0, simulated = 0;  // means
  double rms = 0;                      // of the pairs' differences
};

struct Calibration {
  MachineTables machine;  // fitted, with its sources
  std::string base;       // the machine that it was made from
  std::vector<FittedValue> fitted;
  std::vector<BlockResult> blocks;
  LatencyMatrix measured, simulated;  // CPUs as the machine numbers them
  std::vector<int> file_cpu;          // by CPU of the machine: its number in the file
  double rms = 0, mean = 0;           // of all pairs, ns
  int parameters = 0;                 // that were chosen by this matrix: latencies, and what positions take
  int home = -1;                      // the node of the measured line; -1: it does not show
  FoundPositions positions;
  Contradiction contradiction;  // of the structure that the matrix shows; nothing, if the machine has another
  ThereAndBack directions;
  std::string verdict;                    // sentences: whether another machine could come nearer; empty: nothing to say
  std::pair<int, int> worst;              // CPUs as the machine numbers them
  std::vector<std::string> noted;         // sentences: what of a probe has no place in the machine, or chose its structure
  std::vector<std::string> unexplained;   // likewise
  std::vector<std::string> undetermined;  // likewise: parameters that the matrix can't tell apart, or doesn't show
  std::vector<ComparedCost> own_costs;    // of a probe's file: what was fitted beside the matrix
  std::vector<ComparedCost> predictions;  // likewise, what nothing was fitted to
  std::vector<std::string> waiting;       // sentences: what of waiting was fitted to what, and what was not
  std::vector<std::string> assumed;       // by table: parameters that the file does not determine, "cpu: issue_per_cycle, ..."
  int simulations = 0;
};

// Errors: ConfigError for a machine that is not known, or has another number of CPUs than the matrix; as MatrixSimulator.
Calibration calibrate(const CalibrationRequest& request);

// The machine as a file that load_machine reads.
std::string machine_file_text(const Calibration& calibration, const std::string& matrix_file);

}  // namespace linebounce::sim
