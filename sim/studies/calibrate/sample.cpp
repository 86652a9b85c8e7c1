#include "sim/studies/calibrate/sample.hpp"

#include <algorithm>
#include <set>

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

Sample sample_of(const LatencyMatrix& measured, const std::vector<Block>& blocks) {
  const std::set<int> chosen = chosen_cpus(blocks);
  Sample sample{{chosen.begin(), chosen.end()}, LatencyMatrix(static_cast<int>(chosen.size())), {}};
  const auto number = [&](int cpu) {
    return static_cast<int>(std::lower_bound(sample.cpus.begin(), sample.cpus.end(), cpu) - sample.cpus.begin());
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
