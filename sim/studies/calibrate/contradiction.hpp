// What a measured matrix gives more than once, with values that disagree.
#pragma once

#include "models/machine_layout.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

// The threads of one core are as far from those of another as that core is, so pairs of the same two cores are one latency,
// measured several times. No machine with these cores can show all of it, if they are cores: what is near enough to be threads
// is taken for threads.
struct Contradiction {
  // What such pairs differ by from their mean, in ns, RMS over all pairs of the matrix: the least that such a machine is off.
  double threads_ns = 0;
  int measured_again = 0;  // pairs of the same two cores, besides the first of each
};

// CPUs as the layout numbers them.
Contradiction find_contradiction(const LatencyMatrix& measured, const MachineLayout& layout);

// The two directions of pairs. No contradiction: a line may really cost more in one direction, though in no machine here.
struct ThereAndBack {
  double apart_ns = 0;  // RMS over the pairs that were measured both ways
  int pairs = 0;
};

ThereAndBack compare_there_and_back(const LatencyMatrix& measured);

}  // namespace linebounce::sim
