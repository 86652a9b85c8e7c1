#include "sim/studies/calibrate/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "models/network/topology.hpp"

namespace linebounce::sim {

std::vector<Block> blocks_of(const MachineSpec& machine, const MachineLayout& layout, bool of_each_node) {
  std::map<std::tuple<Distance, int, int, int, int>, Block> blocks;  // in the order of the result
  const NetworkMap network = lay_links(machine.network, machine.nodes);
  for (int a = 0; a < machine.cpus; ++a) {
    for (int b = a + 1; b < machine.cpus; ++b) {
      const CpuPlace& one = layout.cpus[a];
      const CpuPlace& other = layout.cpus[b];
      Block block;
      block.distance = one.core == other.core   ? Distance::same_core
                       : one.bus == other.bus   ? Distance::same_bus
                       : one.node == other.node ? Distance::same_node
                                                : Distance::other_node;
      if (block.distance == Distance::other_node) {
        block.links = static_cast<int>(network.way(one.node, other.node).size());
        if (machine.network.topology == Topology::links) {
          std::tie(block.low_node, block.high_node) = std::minmax(one.node, other.node);
        }
      }
      if (of_each_node && block.distance == Distance::same_node) block.node = one.node;
      const auto key = std::tuple(block.distance, block.node, block.links, block.low_node, block.high_node);
      auto& found = blocks.try_emplace(key, block).first->second;
      found.pairs.emplace_back(a, b);
    }
  }
  std::vector<Block> list;
  for (auto& [key, block] : blocks) list.push_back(std::move(block));
  return list;
}

std::string name_of(const Block& block) {
  switch (block.distance) {
    case Distance::same_core: return "one core";
    case Distance::same_bus: return "one bus";
    case Distance::same_node: return block.node < 0 ? "other bus, one node" : fmt::format("other bus, node {}", block.node);
    case Distance::other_node: break;
  }
  if (block.high_node > 0) return fmt::format("nodes {} and {}", block.low_node, block.high_node);
  return block.links == 1 ? "other node" : fmt::format("other node, {} links", block.links);
}

double mean_of(const Block& block, const LatencyMatrix& matrix) {
  double sum = 0;
  for (const auto& [a, b] : block.pairs) sum += matrix.at(a, b);
  return sum / static_cast<double>(block.pairs.size());
}

}  // namespace linebounce::sim
