// Makes a machine from a measured core-to-core matrix: structure, fit, and what remains.
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
#include "sim/studies/calibrate/structure.hpp"

namespace linebounce::sim {

struct CalibrationRequest {
  std::string matrix_file;  // as the user named it, for sources and messages
  LatencyMatrix measured;   // CPUs numbered as in the file
  // keeps its structure and starts from its latencies; none: the generic machine's latencies, with the structure that the
  // matrix shows
  std::optional<std::string> machine;
  std::string name;                        // of the new machine
  std::optional<CpuGroups> groups = {};    // the structure, if another file has it; none: as the matrix shows it
  std::optional<ProbeFile> probe = {};     // the other measurements; none if the file is only a matrix
  std::string access = "atomic";           // the simulated receiver's operation on the line
  std::string processor = {};              // its model, if a file with the structure states it; empty: unknown
  std::optional<std::string> family = {};  // contention family; none: that of the probed processor, else the base machine's
  int at_once = 1;
  std::function<void(int candidates)> progress = [](int) {};  // called with the number of simulated candidates
};

struct FittedValue {
  std::string path;  // "bus.intervention_clocks"
  std::string unit;
  double before = 0, after = 0;
};

struct BlockResult {
  Block block;
  double measured = 0, simulated = 0;  // means
  double rms = 0;                      // of the pairs' deviations
};

struct Calibration {
  MachineTables machine;  // fitted, with its sources
  std::string base;       // the machine that it was made from
  std::vector<FittedValue> fitted;
  std::vector<BlockResult> blocks;
  LatencyMatrix measured, simulated;  // CPUs numbered as by the machine
  std::vector<int> file_cpu;          // by CPU of the machine: its number in the file
  double rms = 0, mean = 0;           // over all pairs, in ns
  int parameters = 0;                 // number of parameters chosen by this matrix: latencies and positions
  int home = -1;                      // the measured line's home node; -1: the matrix does not show it
  FoundPositions positions;
  Contradiction contradiction;  // for the structure that the matrix shows; empty if the machine has another
  ThereAndBack directions;
  std::string verdict;        // sentences: whether another machine could come nearer; may be empty
  std::pair<int, int> worst;  // CPUs numbered as by the machine
  // sentences: measurements of the probe that have no place in the machine, or that chose its structure
  std::vector<std::string> noted;
  std::vector<std::string> unexplained;   // sentences
  std::vector<std::string> undetermined;  // sentences: parameters that the matrix can't tell apart, or doesn't show
  std::vector<ComparedCost> own_costs;    // from a probe's file: costs fitted beside the matrix
  std::vector<ComparedCost> predictions;  // from a probe's file: costs that nothing was fitted to
  std::vector<std::string> waiting;       // sentences: which parameters of waiting were fitted to what, and which were not
  std::vector<std::string> assumed;       // by table: parameters that the file does not determine, "cpu: issue_per_cycle, ..."
  int simulations = 0;
};

// Errors: ConfigError if the machine is unknown or its number of CPUs differs from the matrix's; also those of MatrixSimulator.
Calibration calibrate(const CalibrationRequest& request);

// The text of a machine file that load_machine can read.
std::string machine_file_text(const Calibration& calibration, const std::string& matrix_file);

}  // namespace linebounce::sim
