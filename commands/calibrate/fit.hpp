// Finds the parameters with which a machine reproduces a measured matrix. The model is the simulator itself, called through a
// function.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "commands/calibrate/blocks.hpp"
#include "commands/calibrate/knobs.hpp"
#include "commands/calibrate/latency_matrix.hpp"
#include "commands/calibrate/least_squares.hpp"
#include "sim/config/settings.hpp"

namespace linebounce::sim {

using Values = std::map<std::string, double>;  // by path

// Simulates the machine with each of these sets of values, and returns the matrices. CPUs are numbered as in the machine.
using SimulateMatrices = std::function<std::vector<LatencyMatrix>(const std::vector<Values>&)>;

enum class SearchEnd {
  cut_off,        // the limit on rounds was reached
  nothing_left,   // the remaining deviation is negligible, or within blocks, where no knob can reduce it
  no_step_gains,  // no single step of a knob with its own effect gains anything, and the derivatives promise no gain
};

struct FitResult {
  Values values;  // final values of the knobs that the fit has changed
  LatencyMatrix simulated;
  Slopes slopes;          // by block and knob, where the search ended
  Separation separation;  // which knobs the slopes can tell apart
  SearchEnd end = SearchEnd::cut_off;
};

// Weighted least squares over the means of blocks, each as a share of its mean; all kinds of pairs weigh alike. Makes
// Gauss-Newton steps with finite differences, for all knobs together and for each alone. Searches from `start` and, if that
// leaves something to gain, from a few other places. `start` has a value for every knob.
FitResult fit(const std::vector<Knob>& knobs, const std::vector<Block>& blocks, const LatencyMatrix& measured,
              const Values& start, const SimulateMatrices& simulate);

}  // namespace linebounce::sim
