// A few CPUs of a large machine that show all distances it has: what a pair costs does not depend on how many others there are,
// and a matrix of 256 CPUs has 32,640 pairs to simulate.
#pragma once

#include <vector>

#include "sim/studies/calibrate/blocks.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

struct Sample {
  std::vector<int> cpus;      // of the whole machine, ascending
  LatencyMatrix measured;     // of these; each pair has the mean of all pairs of its block
  std::vector<Block> blocks;  // of these, in the order of the whole machine's
};

// Some pairs of each block.
Sample sample_of(const LatencyMatrix& measured, const std::vector<Block>& blocks);

}  // namespace linebounce::sim
