// The blocks of a core-to-core matrix: pairs that a machine cannot tell apart.
#pragma once

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
  std::vector<std::pair<int, int>> pairs;  // of CPUs, as the machine numbers them
};

// By distance. In a network of listed links each pair of nodes is a block; in all others, pairs with as many links between
// them.
std::vector<Block> blocks_of(const MachineSpec& machine, const MachineLayout& layout);

// "one core", "one bus", "other bus, one node", "other node", "other node, 2 links", "nodes 0 and 3".
std::string name_of(const Block& block);

double mean_of(const Block& block, const LatencyMatrix& matrix);

}  // namespace linebounce::sim
