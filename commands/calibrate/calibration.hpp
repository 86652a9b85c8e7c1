// Makes a machine from a measured core-to-core matrix: finds its structure, fits its latencies, and reports what does not
// fit.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/calibrate/blocks.hpp"
#include "commands/calibrate/fit.hpp"
#include "commands/calibrate/latency_matrix.hpp"
#include "commands/calibrate/own_costs.hpp"
#include "commands/calibrate/positions.hpp"
#include "commands/calibrate/probe_file.hpp"
#include "commands/calibrate/processor_family.hpp"
#include "commands/calibrate/structure.hpp"
#include "sim/config/machine_tables.hpp"

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
  std::optional<CpuGroups> groups = {};        // the structure as another file states it; none: as the matrix shows it
  std::optional<ProbeFile> probe = {};         // the other measurements; none if the file is only a matrix
  std::optional<MemoryLatencies> memory = {};  // besides the matrix; none: unknown, or part of `probe`
  std::string access = "atomic";               // the simulated receiver's operation on the line
  std::string structure_file = {};             // where `groups` are from
  // Caches as a file with the structure states them, sorted by level; none: not stated.
  std::vector<ProbedCache> caches = {};
  std::string caches_file = {};         // where from
  std::vector<PlaceOfName> names = {};  // texts that may name the processor
  std::optional<double> mhz = {};       // the clock as a file or the user states it; none: by the name, or unknown
  std::string clock_from = {};          // what states `mhz`
  std::string os_nodes = {};            // machine.os_nodes; empty: as the machine has them
  // Contention family; none: that of the named processor, else the base machine's if the user chose it, else it is asked for.
  std::optional<std::string> family = {};
  AskFamily ask_family = nullptr;
  int at_once = 1;
  std::function<void(int candidates)> progress = [](int) {};  // called with the number of candidates simulated so far
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
  std::string base;       // name of the machine whose values were the start
  std::vector<FittedValue> fitted;
  std::vector<BlockResult> blocks;
  LatencyMatrix measured, simulated;  // CPUs are numbered as in the machine
  std::vector<int> file_cpu;          // by the machine's CPU: its number in the file
  double rms = 0, mean = 0;           // over all pairs, in ns
  int parameters = 0;                 // number of parameters chosen by this matrix: latencies and positions
  int home = -1;                      // home node of the measured lines; -1: the matrix does not show it
  FoundPositions positions;
  // How far the pairs of CPUs contradict each other. All zero if the user's machine has another structure than the matrix.
  Contradiction contradiction;
  ThereAndBack directions;
  std::string verdict;        // sentences on whether another machine could fit better; may be empty
  std::pair<int, int> worst;  // the pair of CPUs with the largest deviation
  // Sentences on measurements that the machine cannot represent, or that determined its structure.
  std::vector<std::string> noted;
  std::vector<std::string> unexplained;   // sentences
  std::vector<std::string> undetermined;  // sentences on parameters that the matrix does not show, or cannot tell apart
  std::vector<ComparedCost> own_costs;    // from a probe's file: the costs besides the matrix that were fitted
  // From a probe's file: the costs that are only compared, because nothing was fitted to them.
  std::vector<ComparedCost> predictions;
  // Sentences on each parameter of waiting: what it was fitted to, or why it was not fitted.
  std::vector<std::string> waiting;
  std::vector<std::string> assumed;  // by table: parameters that the file does not determine: "cpu: issue_per_cycle, ..."
  int simulations = 0;
};

// Errors: ConfigError if the machine is unknown, or does not have as many CPUs as the matrix; also the errors of
// MatrixSimulator.
Calibration calibrate(const CalibrationRequest& request);

// The text of a machine file that load_machine can read.
std::string machine_file_text(const Calibration& calibration, const std::string& matrix_file);

}  // namespace linebounce::sim
