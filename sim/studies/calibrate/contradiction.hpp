// What a measured matrix says several times, and differently: no machine can show all of it.
#pragma once

#include "models/machine_layout.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

struct Contradiction {
  // The threads of one core are as far from those of another as that core is, so pairs of the same two cores are one latency,
  // measured several times. What they differ by from their mean, in ns, RMS over all pairs of the matrix: the least that any
  // machine with these cores is off.
  double threads_ns = 0;
  int measured_again = 0;  // pairs of the same two cores, besides the first of each

  // Where both directions of pairs were measured: half of what they differ by, in ns, RMS over those pairs. So much the mean
  // of the two, which is what counts, is uncertain.
  double directions_ns = 0;
  int both_directions = 0;  // pairs
};

// CPUs as the layout numbers them.
Contradiction find_contradiction(const LatencyMatrix& measured, const MachineLayout& layout);

}  // namespace linebounce::sim
