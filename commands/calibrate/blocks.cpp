#include "commands/calibrate/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "models/network/topology.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kPairsOfBlock = 4;

std::vector<std::pair<int, int>> pairs_among(const std::set<int>& cpus, const Block& block) {
  std::vector<std::pair<int, int>> pairs;
  for (const auto& pair : block.pairs) {
    if (cpus.contains(pair.first) && cpus.contains(pair.second)) pairs.push_back(pair);
  }
  return pairs;
}

std::set<int> chosen_cpus(const std::vector<Block>& blocks) {
  std::set<int> cpus;
  for (const Block& block : blocks) {
    const std::size_t wanted = std::min(kPairsOfBlock, block.pairs.size());
    for (std::size_t i = 0; i < wanted && pairs_among(cpus, block).size() < wanted; ++i) {
      const auto& [a, b] = block.pairs[i * block.pairs.size() / wanted];
      cpus.insert({a, b});
    }
  }
  return cpus;
}

}  // namespace

std::vector<Block> blocks_of(const MachineSpec& machine, const MachineLayout& layout, bool of_each_node) {
  std::map<std::tuple<Distance, int, int, int, int>, Block> blocks;  // sorted as the result is
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

Sample sample_of(const LatencyMatrix& measured, const std::vector<Block>& blocks) {
  const std::set<int> chosen = chosen_cpus(blocks);
  Sample sample{{chosen.begin(), chosen.end()}, LatencyMatrix(static_cast<int>(chosen.size())), {}};
  const auto number = [&](int cpu) {
    return static_cast<int>(std::ranges::lower_bound(sample.cpus, cpu) - sample.cpus.begin());
  };
  for (const Block& block : blocks) {
    const double mean = mean_of(block, measured);
    Block part = block;
    part.stands_for = Block::All{block.pairs.size(), 0};
    for (const auto& [a, b] : block.pairs) part.stands_for->squares += (measured.at(a, b) - mean) * (measured.at(a, b) - mean);
    part.pairs.clear();
    for (const auto& [a, b] : pairs_among(chosen, block)) {
      part.pairs.emplace_back(number(a), number(b));
      sample.measured.set(number(a), number(b), mean);
    }
    sample.blocks.push_back(std::move(part));
  }
  return sample;
}

}  // namespace linebounce::sim
