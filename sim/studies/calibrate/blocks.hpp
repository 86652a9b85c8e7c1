// The blocks of a core-to-core matrix: pairs that a machine cannot tell apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/machine_layout.hpp"
#include "models/machine_spec.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

enum class Distance { same_core, same_bus, same_node, other_node };

struct Block {
  Distance distance = Distance::same_bus;
  int links = 0;                           // between the nodes
  int low_node = 0, high_node = 0;         // where every pair of nodes is a block of its own; else 0
  int node = -1;                           // where the buses of every node are a block of their own; else -1
  std::vector<std::pair<int, int>> pairs;  // of CPUs, as the machine numbers them

  // Where these pairs are a sample: how many there are in all, and the squares of what those differ by from their mean.
  struct All {
    std::size_t pairs = 0;
    double squares = 0;
  };
  std::optional<All> stands_for = {};
};

// By distance. In a network of listed links each pair of nodes is a block; in all others, pairs with as many links between
// them. `of_each_node`: the line's home is one node, so it matters in which node two buses are.
std::vector<Block> blocks_of(const MachineSpec& machine, const MachineLayout& layout, bool of_each_node = false);

// "one core", "one bus", "other bus, one node", "other node", "other node, 2 links", "nodes 0 and 3".
std::string name_of(const Block& block);

double mean_of(const Block& block, const LatencyMatrix& matrix);

// A few CPUs of a large machine that show all distances it has: what a pair costs does not depend on how many others
// there are, and a matrix of 256 CPUs has 32,640 pairs to simulate.
struct Sample {
  std::vector<int> cpus;      // of the whole machine, ascending
  LatencyMatrix measured;     // of these; each pair has the mean of all pairs of its block
  std::vector<Block> blocks;  // of these, in the order of the whole machine's
};

// Some pairs of each block.
Sample sample_of(const LatencyMatrix& measured, const std::vector<Block>& blocks);

}  // namespace linebounce::sim
