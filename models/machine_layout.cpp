#include "models/machine_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace linebounce {

std::vector<int> parse_nodes(const std::string& text, int nodes, const std::string& key) {
  std::vector<int> numbers;
  if (text == "all") {
    numbers.resize(static_cast<std::size_t>(nodes));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool digits = word.size() < 6 && word.find_first_not_of("0123456789") == std::string::npos;
    const int number = digits ? std::stoi(word) : -1;
    if (number < 0 || number >= nodes) {
      throw std::invalid_argument(
          fmt::format("{}: '{}' is no node of this machine; legal: \"all\", or numbers from 0 to {}", key, word, nodes - 1));
    }
    numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.empty())
    throw std::invalid_argument(fmt::format("{}: no node is named; legal: \"all\", or numbers, \"0 1\"", key));
  return numbers;
}

namespace {

// The cores that the machine has, in the order in which CPUs are given to them.
std::vector<CpuPlace> cores_in_order(const MachineSpec& spec, const std::vector<int>& nodes, int cores_per_bus) {
  std::vector<CpuPlace> cores;
  for (const int node : nodes) {
    for (int bus = 0; bus < spec.buses_per_node; ++bus) {
      for (int core = 0; core < cores_per_bus; ++core) cores.push_back({node, node * spec.buses_per_node + bus, core, 0});
    }
  }
  if (spec.cpu_order == CpuOrder::spread) {
    std::stable_sort(cores.begin(), cores.end(), [&spec](const CpuPlace& a, const CpuPlace& b) {
      const int in_node_a = a.bus % spec.buses_per_node;
      const int in_node_b = b.bus % spec.buses_per_node;
      return a.core != b.core ? a.core < b.core : in_node_a < in_node_b;
    });
  }
  return cores;
}

}  // namespace

MachineLayout lay_out(const MachineSpec& spec) {
  MachineLayout layout;
  layout.buses_per_node = spec.buses_per_node;
  layout.nodes_with_memory = parse_nodes(spec.memory.nodes, spec.nodes, "machine.memory.nodes");
  const std::vector<int> nodes = parse_nodes(spec.cpu_nodes, spec.nodes, "machine.cpu_nodes");
  const int threads = spec.cpu.threads_per_core;
  const int present = spec.cpus_present / threads;
  const int buses = static_cast<int>(nodes.size()) * spec.buses_per_node;
  if (present % buses != 0) {
    throw std::invalid_argument(
        fmt::format("machine.cpus_present: {} cores do not spread evenly over {} buses ({} nodes with CPUs, {} buses each)",
                    present, buses, nodes.size(), spec.buses_per_node));
  }
  std::vector<CpuPlace> cores = cores_in_order(spec, nodes, present / buses);
  const int in_use = (spec.cpus + threads - 1) / threads;
  const bool spread = spec.cpu_order == CpuOrder::spread;
  // With "spread" all cores get a first thread before any gets a second one.
  cores.resize(static_cast<std::size_t>(spread ? std::min(spec.cpus, present) : in_use));
  layout.cores_on_bus.resize(static_cast<std::size_t>(spec.nodes) * static_cast<std::size_t>(spec.buses_per_node));
  for (const CpuPlace& core : cores) ++layout.cores_on_bus[static_cast<std::size_t>(core.bus)];
  // Cores are numbered bus by bus, whatever the order of the CPUs.
  std::vector<int> first(layout.cores_on_bus.size());
  std::exclusive_scan(layout.cores_on_bus.begin(), layout.cores_on_bus.end(), first.begin(), 0);
  for (CpuPlace& core : cores) core.core = first[static_cast<std::size_t>(core.bus)]++;
  const int count = static_cast<int>(cores.size());
  for (int cpu = 0; cpu < spec.cpus; ++cpu) {
    CpuPlace place = cores[static_cast<std::size_t>(spread ? cpu % count : cpu / threads)];
    place.thread = spread ? cpu / count : cpu % threads;
    layout.cpus.push_back(place);
  }
  return layout;
}

}  // namespace linebounce
