// The blocks of a core-to-core matrix. A block is a set of pairs of CPUs that have the same latency on any machine of this
// structure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/calibrate/latency_matrix.hpp"
#include "models/machine_layout.hpp"
#include "models/machine_spec.hpp"

namespace linebounce::sim {

enum class Distance { same_core, same_bus, same_node, other_node };

struct Block {
  Distance distance = Distance::same_bus;
  int links = 0;                           // number of links between the pairs' nodes; 0: same node
  int low_node = 0, high_node = 0;         // the two nodes, in networks where each pair of nodes is a block of its own; else 0
  int node = -1;                           // the pairs' node, if there is a block for each node; else -1
  std::vector<std::pair<int, int>> pairs;  // pairs of CPUs, numbered as in the machine

  // The whole block's number of pairs, and the sum of squares of their deviations from the mean.
  struct All {
    std::size_t pairs = 0;
    double squares = 0;
  };
  std::optional<All> stands_for = {};
};

// Groups the pairs of CPUs by distance. If the network is a list of links, each pair of nodes is a block. Otherwise all pairs
// of nodes with equally many links between them share one. `of_each_node`: all measured lines have one home, so that
// latencies on a node depend on which node it is; pairs on two buses of a node then form a block for each node.
std::vector<Block> blocks_of(const MachineSpec& machine, const MachineLayout& layout, bool of_each_node = false);

// "one core", "one bus", "other bus, one node", "other node", "other node, 2 links", "nodes 0 and 3".
std::string name_of(const Block& block);

double mean_of(const Block& block, const LatencyMatrix& matrix);

// A few CPUs that show all distances of a large machine. A pair's latency does not depend on the number of other CPUs, and
// simulating a matrix of 256 CPUs would take 32,640 pairs.
struct Sample {
  std::vector<int> cpus;      // numbers in the whole machine, ascending
  LatencyMatrix measured;     // by these CPUs; each pair has the mean that its block has in the whole machine
  std::vector<Block> blocks;  // for these CPUs, in the order of the whole machine's blocks
};

// Chooses CPUs so that the sample has some pairs of each block.
Sample sample_of(const LatencyMatrix& measured, const std::vector<Block>& blocks);

}  // namespace linebounce::sim
