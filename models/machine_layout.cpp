#include "models/machine_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "models/os_nodes.hpp"
#include "models/text/whole_number.hpp"

namespace linebounce {

std::vector<int> parse_nodes(const std::string& text, int nodes, const std::string& key) {
  std::vector<int> numbers;
  if (text == "all") {
    numbers.resize(nodes);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto number = whole_number(word, 0, nodes - 1);
    if (!number) {
      throw std::invalid_argument(
          fmt::format("{}: '{}' is not a node of this machine; legal: \"all\", or numbers from 0 to {}", key, word, nodes - 1));
    }
    numbers.push_back(static_cast<int>(*number));
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.empty())
    throw std::invalid_argument(fmt::format("{}: no node is named; legal: \"all\", or numbers, \"0 1\"", key));
  return numbers;
}

namespace {

// All cores, in use or not, in the order in which they get CPU numbers.
std::vector<CpuPlace> cores_in_order(const MachineSpec& spec, const std::vector<int>& nodes, int cores_per_bus) {
  std::vector<CpuPlace> cores;
  for (const int node : nodes) {
    for (int bus = 0; bus < spec.buses_per_node; ++bus) {
      for (int core = 0; core < cores_per_bus; ++core) cores.push_back({node, node * spec.buses_per_node + bus, core, 0});
    }
  }
  if (spec.cpu_order == CpuOrder::spread && spec.cpu_list.empty()) {
    std::stable_sort(cores.begin(), cores.end(), [&spec](const CpuPlace& a, const CpuPlace& b) {
      const int in_node_a = a.bus % spec.buses_per_node;
      const int in_node_b = b.bus % spec.buses_per_node;
      return a.core != b.core ? a.core < b.core : in_node_a < in_node_b;
    });
  }
  return cores;
}

// For each CPU, its core according to machine.cpu_list, as an index into cores_in_order().
std::vector<int> listed_cores(const MachineSpec& spec, int present) {
  const int most = present * spec.cpu.threads_per_core - 1;
  std::vector<int> threads;
  std::istringstream words(spec.cpu_list);
  for (std::string word; words >> word;) {
    const auto number = whole_number(word, 0, most);
    if (!number) {
      throw std::invalid_argument(fmt::format(
          "machine.cpu_list: '{}' is not a hardware thread of this machine; legal: numbers from 0 to {}", word, most));
    }
    if (std::find(threads.begin(), threads.end(), *number) != threads.end())
      throw std::invalid_argument(fmt::format("machine.cpu_list: hardware thread {} is named twice", *number));
    threads.push_back(static_cast<int>(*number));
  }
  if (threads.size() < static_cast<std::size_t>(spec.cpus)) {
    throw std::invalid_argument(
        fmt::format("machine.cpu_list: names {} hardware threads for {} CPUs (machine.cpus)", threads.size(), spec.cpus));
  }
  threads.resize(spec.cpus);
  for (int& thread : threads) thread /= spec.cpu.threads_per_core;
  return threads;
}

// For each CPU, its core as an index into cores_in_order().
std::vector<int> cores_of_cpus(const MachineSpec& spec, int present) {
  if (!spec.cpu_list.empty()) return listed_cores(spec, present);
  const bool fill = spec.cpu_order == CpuOrder::fill;
  // Except with "fill", every core's first thread gets a CPU number before any core's second thread.
  std::vector<int> cores;
  for (int cpu = 0; cpu < spec.cpus; ++cpu) cores.push_back(fill ? cpu / spec.cpu.threads_per_core : cpu % present);
  return cores;
}

// Builds the levels of groups inside each node, bottom up.
void lay_out_groups(const MachineSpec& spec, MachineLayout& layout) {
  const int buses = static_cast<int>(layout.cores_on_bus.size());
  layout.place_of_bus.resize(buses);
  std::vector<int> below(buses);
  std::iota(below.begin(), below.end(), 0);
  int in_node = spec.buses_per_node;  // how many members `below` has for each node
  for (std::size_t level = 0; level < spec.groups.size(); ++level) {
    const GroupSpec& group = spec.groups[level];
    if (in_node % group.members != 0) {
      throw std::invalid_argument(fmt::format("machine.group.{}.members: {} of the level below do not make whole groups of {}",
                                              group.name, in_node, group.members));
    }
    std::vector<int> here;
    for (std::size_t first = 0; first < below.size(); first += static_cast<std::size_t>(group.members)) {
      MachineLayout::Group built;
      built.level = static_cast<int>(level);
      built.node = static_cast<int>(first) / in_node;
      const int endpoint = layout.first_group() + static_cast<int>(layout.groups.size());
      for (int number = 0; number < group.members; ++number) {
        const int member = below[first + static_cast<std::size_t>(number)];
        built.members.push_back(member);
        MachineLayout::Place& place =
            member < buses ? layout.place_of_bus[member] : layout.groups[member - layout.first_group()];
        place = {endpoint, number};
      }
      layout.groups.push_back(std::move(built));
      here.push_back(endpoint);
    }
    below = std::move(here);
    in_node /= group.members;
  }
  for (std::size_t number = 0; number < below.size(); ++number) {
    MachineLayout::Place& place =
        below[number] < buses ? layout.place_of_bus[below[number]] : layout.groups[below[number] - layout.first_group()];
    place = {-1, static_cast<int>(number)};
  }
  layout.agents = std::move(below);
}

}  // namespace

MachineSpec as_of_node(const MachineSpec& spec, int node) {
  MachineSpec own = spec;
  for (const MemoryOfNodeSpec& memory : spec.memory_of_node) {
    if (memory.name != std::to_string(node)) continue;
    own.memory.latency_ns = own_or(memory.latency_ns, spec.memory.latency_ns);
    own.memory.bank_busy_ns = own_or(memory.bank_busy_ns, spec.memory.bank_busy_ns);
    own.memory.bandwidth_mb_per_s = own_or(memory.bandwidth_mb_per_s, spec.memory.bandwidth_mb_per_s);
    if (memory.banks > 0) own.memory.banks = memory.banks;
    own.directory.latency_ns = own_or(memory.directory_latency_ns, spec.directory.latency_ns);
    own.directory.line_busy_ns = own_or(memory.directory_line_busy_ns, spec.directory.line_busy_ns);
  }
  return own;
}

MachineLayout lay_out(const MachineSpec& spec) {
  MachineLayout layout;
  layout.buses_per_node = spec.buses_per_node;
  layout.nodes_with_memory = parse_nodes(spec.memory.nodes, spec.nodes, "machine.memory.nodes");
  const std::vector<int> nodes = parse_nodes(spec.cpu_nodes, spec.nodes, "machine.cpu_nodes");
  const int present = spec.cpus_present / spec.cpu.threads_per_core;
  const int buses = static_cast<int>(nodes.size()) * spec.buses_per_node;
  if (present % buses != 0) {
    throw std::invalid_argument(
        fmt::format("machine.cpus_present: {} cores do not spread evenly over {} buses ({} nodes with CPUs, {} buses each)",
                    present, buses, nodes.size(), spec.buses_per_node));
  }
  std::vector<CpuPlace> cores = cores_in_order(spec, nodes, present / buses);
  set_os_nodes(spec, present / buses, cores, layout);
  const std::vector<int> core_of_cpu = cores_of_cpus(spec, present);
  std::vector<int> threads_in_use(cores.size());
  for (const int core : core_of_cpu) ++threads_in_use[core];
  // Cores in use are numbered bus by bus, whatever the order of CPU numbers.
  layout.cores_on_bus.resize(static_cast<std::size_t>(spec.nodes) * static_cast<std::size_t>(spec.buses_per_node));
  for (std::size_t i = 0; i < cores.size(); ++i) {
    if (threads_in_use[i] > 0) ++layout.cores_on_bus[cores[i].bus];
  }
  std::vector<int> numbers_of_buses(layout.cores_on_bus.size());  // each bus's number among the buses of nodes that have CPUs
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (int bus = 0; bus < spec.buses_per_node; ++bus) {
      const int before = nodes[i] * spec.buses_per_node + bus;
      numbers_of_buses[before] = static_cast<int>(i) * spec.buses_per_node + bus;
    }
  }
  std::vector<int> first(layout.cores_on_bus.size());
  std::exclusive_scan(layout.cores_on_bus.begin(), layout.cores_on_bus.end(), first.begin(), 0);
  layout.cores_present = present;
  layout.seat_of_core.resize(
      static_cast<std::size_t>(std::accumulate(layout.cores_on_bus.begin(), layout.cores_on_bus.end(), 0)));
  for (std::size_t i = 0; i < cores.size(); ++i) {
    if (threads_in_use[i] == 0) continue;
    const int place = numbers_of_buses[cores[i].bus] * (present / buses) + cores[i].core;
    cores[i].core = first[cores[i].bus]++;
    layout.seat_of_core[cores[i].core] = place;
  }
  for (const int core : core_of_cpu) {
    CpuPlace& place = cores[core];
    layout.cpus.push_back(place);
    ++place.thread;  // the next CPU on this core gets the next thread
  }
  lay_out_groups(spec, layout);
  return layout;
}

}  // namespace linebounce
