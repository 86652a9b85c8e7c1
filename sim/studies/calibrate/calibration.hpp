// Makes a machine from a measured core-to-core matrix: finds its structure, fits its latencies, and reports what does not
// fit.
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

// Measured latencies of memory, load to use.
struct MemoryLatencies {
  std::string source;                   // the tool's name
  double local_ns = 0;                  // memory of the CPU's own node
  std::optional<double> other_ns = {};  // the mean of other nodes' memories
};

struct CalibrationRequest {
  std::string matrix_file;  // the file's name as the user gave it, for sources and messages
  LatencyMatrix measured;   // CPUs numbered as in the file
  // The machine whose structure is kept and whose latencies are the start. None: the generic machine's latencies, and the
  // structure that the matrix shows.
  std::optional<std::string> machine;
  std::string name;                            // of the new machine
  std::optional<CpuGroups> groups = {};        // the structure that another file states; none: use what the matrix shows
  std::optional<ProbeFile> probe = {};         // the other measurements; none if the file is only a matrix
  std::optional<MemoryLatencies> memory = {};  // besides the matrix; none: unknown, or part of `probe`
  std::string access = "atomic";               // the simulated receiver's operation on the line
  std::string processor = {};                  // its model, if a file with the structure states it; empty: unknown
  std::optional<std::string> family = {};      // contention family; none: that of the probed processor, else the base machine's
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
  LatencyMatrix measured, simulated;  // CPUs have the machine's numbers
  std::vector<int> file_cpu;          // by the machine's CPU: its number in the file
  double rms = 0, mean = 0;           // over all pairs, in ns
  int parameters = 0;                 // number of parameters chosen by this matrix: latencies and positions
  int home = -1;                      // the measured line's home node; -1: the matrix does not show it
  FoundPositions positions;
  // How the matrix contradicts the structure that it shows; empty if the machine has another structure.
  Contradiction contradiction;
  ThereAndBack directions;
  std::string verdict;        // sentences on whether another machine could fit better; may be empty
  std::pair<int, int> worst;  // the CPUs whose latency is farthest off
  // Sentences about the probe's measurements that the machine cannot represent, or that determined its structure.
  std::vector<std::string> noted;
  std::vector<std::string> unexplained;   // sentences
  std::vector<std::string> undetermined;  // sentences about parameters that the matrix does not show, or cannot tell apart
  std::vector<ComparedCost> own_costs;    // from a probe's file: costs that were fitted besides the matrix
  std::vector<ComparedCost> predictions;  // from a probe's file: costs that are compared, but were not fitted
  // Sentences that say which parameters of waiting were fitted to what, and which were not fitted.
  std::vector<std::string> waiting;
  std::vector<std::string> assumed;  // by table: parameters that the file does not determine: "cpu: issue_per_cycle, ..."
  int simulations = 0;
};

// Errors: ConfigError if the machine is unknown, or if it and the matrix have different numbers of CPUs; also the errors of
// MatrixSimulator.
Calibration calibrate(const CalibrationRequest& request);

// The text of a machine file that load_machine can read.
std::string machine_file_text(const Calibration& calibration, const std::string& matrix_file);

}  // namespace linebounce::sim
