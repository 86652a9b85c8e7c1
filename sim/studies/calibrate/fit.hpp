// Finds the parameters of a machine with which it shows a measured matrix. The model is the simulator itself, which is asked
// through a function.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/config/settings.hpp"
#include "sim/studies/calibrate/blocks.hpp"
#include "sim/studies/calibrate/knobs.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"
#include "sim/studies/calibrate/least_squares.hpp"

namespace linebounce::sim {

using Values = std::map<std::string, double>;  // by path

// The matrices of the machine with each of these values, CPUs as the machine numbers them.
using SimulateMatrices = std::function<std::vector<LatencyMatrix>(const std::vector<Values>&)>;

enum class SearchEnd {
  cut_off,        // there were no rounds left
  nothing_left,   // what is left is next to nothing, or differences inside blocks, which no knob moves
  no_step_gains,  // each knob that does something of its own was turned up and down, and the derivatives property nothing more
};

struct FitResult {
  Values values;  // of all knobs that were turned away from where they were
  LatencyMatrix simulated;
  Slopes slopes;          // of blocks by knobs, where the search ended
  Separation separation;  // of the knobs, by those slopes
  SearchEnd end = SearchEnd::cut_off;
};

// Least squares over the means of blocks, each with the weight of its pairs: Gauss-Newton steps with differences for
// derivatives, of all knobs together and one by one, from `start` and, where that leaves something to gain, from a few other
// places. `start` has the value of every knob.
FitResult fit(const std::vector<Knob>& knobs, const std::vector<Block>& blocks, const LatencyMatrix& measured,
              const Values& start, const SimulateMatrices& simulate);

}  // namespace linebounce::sim
