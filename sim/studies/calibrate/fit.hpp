// Finds the parameters of a machine with which it shows a measured matrix. The model is the simulator itself, which is asked
// through a function.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/config/settings.hpp"
#include "sim/studies/calibrate/blocks.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

// What the fit may turn. Several paths are turned together, to the same value.
struct Knob {
  std::vector<std::string> paths;
  double minimum = 0;
  double step = 0.1;  // values are multiples of it
};

// Blocks that are fitted at once, and what moves them. The first turn takes what it can; the next ones what is then left.
struct Stage {
  std::vector<std::size_t> blocks;  // indices
  std::vector<std::vector<Knob>> turns;
};

using Values = std::map<std::string, double>;  // by path

// The matrices of the machine with each of these values, CPUs as the machine numbers them.
using SimulateMatrices = std::function<std::vector<LatencyMatrix>(const std::vector<Values>&)>;

// The stages for a machine, from the inside out: what moves a block moves those behind it, not those before.
// `access`: what the receiver does with a line, "load" or "atomic".
std::vector<Stage> stages_of(const MachineSpec& machine, const std::vector<Block>& blocks, const std::string& access);

struct FitResult {
  Values values;  // of all knobs that were turned away from where they were
  LatencyMatrix simulated;
};

// Least squares over the means of blocks, each with the weight of its pairs: a few Gauss-Newton steps for each turn, with
// differences for derivatives. `start` has the value of every knob.
FitResult fit(const std::vector<Stage>& stages, const std::vector<Block>& blocks, const LatencyMatrix& measured,
              const Values& start, const SimulateMatrices& simulate);

}  // namespace linebounce::sim
