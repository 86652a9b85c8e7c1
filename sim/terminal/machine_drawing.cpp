#include "sim/terminal/machine_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "models/machine_layout.hpp"
#include "models/network/topology.hpp"
#include "sim/config/schema.hpp"
#include "sim/terminal/boxes.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

std::string ns_text(double ns) {
  return fmt::format("{:g} ns", ns);
}

// "0, 2, 4, 6", "0, 2, 4 ... 30".
std::string numbers_text(const std::vector<int>& numbers) {
  constexpr std::size_t kMost = 6;
  constexpr std::size_t kFirst = 3;
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers.size() > kMost && i == kFirst) return fmt::format("{} ... {}", text, numbers.back());
    text += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
  }
  return text;
}

// The machine with the places of its CPUs.
class Drawing {
 public:
  Drawing(const MachineSpec& machine, std::size_t columns) : machine_(machine), columns_(columns), layout_(lay_out(machine)) {
    const int cores = std::accumulate(layout_.cores_on_bus.begin(), layout_.cores_on_bus.end(), 0);
    cpus_of_core_.resize(cores);
    for (std::size_t cpu = 0; cpu < layout_.cpus.size(); ++cpu) {
      cpus_of_core_[layout_.cpus[cpu].core].push_back(static_cast<int>(cpu));
    }
  }

  [[nodiscard]] std::string one_bus() const {
    const BoxRow cores = core_row(0);
    const BoxRow bus = standing_on(cores, {bus_text()}, true);
    return drawing({cores, bus, hanging_from(bus, memory_box())});
  }

  [[nodiscard]] std::string nodes() const {
    const int bus = layout_.cpus.front().bus;
    const BoxRow cores = core_row(bus);
    const BoxRow below = standing_on(cores, {bus_text()}, true);
    std::string out = fmt::format("  node {}, bus {}\n", layout_.node_of_bus(bus), bus);
    out += drawing({cores, below, hanging_from(below, controller_box())}) + tree();
    const BoxRow row = node_row();
    return out + "\n" + drawing({row, standing_on(row, network_texts(), false)}) + distances();
  }

 private:
  [[nodiscard]] BoxRow core_row(int bus) const {
    std::vector<Box> boxes;
    const auto first = std::accumulate(layout_.cores_on_bus.begin(), layout_.cores_on_bus.begin() + bus, 0);
    for (int core = 0; core < layout_.cores_on_bus[bus]; ++core) {
      boxes.push_back(core_box(cpus_of_core_[first + core]));
    }
    return side_by_side(boxes, columns_);
  }

  [[nodiscard]] Box core_box(const std::vector<int>& cpus) const {
    Box box = {{"CPU " + numbers_text(cpus), frequency_text(machine_.cpu.clock)}};
    for (const CacheSpec& cache : machine_.caches) {
      box.push_back(
          {cache.name + "  " + size_text(cache.size_kib),
           fmt::format("{}-way, {} cycle{}", cache.ways, cache.hit_latency_cycles, cache.hit_latency_cycles == 1 ? "" : "s")});
    }
    return box;
  }

  [[nodiscard]] std::string bus_text() const {
    const BusSpec& bus = machine_.bus;
    const double mhz = static_cast<double>(bus.clock.numerator_mhz) / static_cast<double>(bus.clock.denominator);
    return fmt::format("bus  {}  {} x {} bytes = {:.0f} MB/s", bus.protocol, frequency_text(bus.clock), bus.width_bytes,
                       mhz * bus.width_bytes);
  }

  [[nodiscard]] Box memory_box() const {
    const MemorySpec& memory = machine_.memory;
    Box box = {{"memory", readable(memory.latency_ns) + " ns"}};
    std::string banks = fmt::format("{} bank{}", memory.banks, memory.banks == 1 ? "" : "s");
    if (memory.bank_busy_ns > 0) banks += fmt::format(", busy {:g} ns each", memory.bank_busy_ns);
    box.front().push_back(banks);
    if (memory.bandwidth_mb_per_s > 0) box.front().push_back(fmt::format("{:g} MB/s", memory.bandwidth_mb_per_s));
    return box;
  }

  [[nodiscard]] Box controller_box() const {
    const NodeSpec& node = machine_.node;
    Box box = {{fmt::format("controller  {}", node.protocol),
                fmt::format("a pass {}, occupied {}", ns_text(node.latency_ns), ns_text(node.occupancy_ns))}};
    if (machine_.nodes > 1) {
      box.front().push_back(fmt::format("leaving the node: a message {}, a line {}", ns_text(node.request_crossing_ns),
                                        ns_text(node.line_crossing_ns)));
    }
    if (node.cache_size_kib > 0) {
      box.push_back({fmt::format("cache  {}, {}-way, {}", size_text(node.cache_size_kib), node.cache_ways,
                                 ns_text(node.cache_latency_ns))});
    }
    return box;
  }

  // The levels above the buses, from the homes down: who is a member of what.
  [[nodiscard]] std::string tree() const {
    if (machine_.groups.empty()) return "";
    std::string out = fmt::format("\n  node 0: {} buses below {} group{} at the homes\n", machine_.buses_per_node,
                                  groups_at_homes(), groups_at_homes() == 1 ? "" : "s");
    std::size_t depth = 1;
    for (std::size_t level = machine_.groups.size(); level-- > 0; ++depth) {
      const GroupSpec& group = machine_.groups[level];
      const std::string below = level == 0 ? "buses" : machine_.groups[level - 1].name;
      std::string text = fmt::format("{}  {} of {} {}, a pass {}, a way {}", group.name, group.protocol, group.members, below,
                                     ns_text(group.latency_ns), ns_text(group.link_ns));
      text += group.size_kib > 0 ? fmt::format(", cache {}, {}-way, {}", size_text(group.size_kib), group.ways,
                                               ns_text(group.cache_latency_ns))
                                 : fmt::format(", cache as large as it has to be, {}", ns_text(group.cache_latency_ns));
      if (group.filter_entries > 0)
        text += fmt::format(", filter of {} entries, {}-way", group.filter_entries, group.filter_ways);
      if (group.slices > 1)
        text += fmt::format(", {} slices on a {}, {} a hop", group.slices,
                            group.slice_topology == SliceTopology::mesh ? "mesh" : "ring", ns_text(group.slice_hop_ns));
      out += std::string(2 * depth, ' ') + "  " + text + "\n";
    }
    return out;
  }

  [[nodiscard]] int groups_at_homes() const { return static_cast<int>(layout_.agents.size()) / machine_.nodes; }

  [[nodiscard]] BoxRow node_row() const {
    std::vector<Box> boxes;
    for (int node = 0; node < machine_.nodes; ++node) boxes.push_back(node_box(node));
    return side_by_side(boxes, columns_);
  }

  [[nodiscard]] Box node_box(int node) const {
    std::vector<std::string> buses;
    for (int bus = node * machine_.buses_per_node; bus < (node + 1) * machine_.buses_per_node; ++bus) {
      std::vector<int> cpus;
      for (std::size_t cpu = 0; cpu < layout_.cpus.size(); ++cpu) {
        if (layout_.cpus[cpu].bus == bus) cpus.push_back(static_cast<int>(cpu));
      }
      const std::string name = machine_.buses_per_node > 1 ? fmt::format("bus {}  ", bus) : "";
      buses.push_back(name + (cpus.empty() ? "no CPU" : "CPU " + numbers_text(cpus)));
    }
    const auto& with = layout_.nodes_with_memory;
    const bool memory = std::find(with.begin(), with.end(), node) != with.end();
    const MachineSpec own = as_of_node(machine_, node);
    const std::vector<std::string> home = {"directory  " + ns_text(own.directory.latency_ns),
                                           "memory  " + ns_text(own.memory.latency_ns)};
    return {{fmt::format("node {}", node)}, buses, memory ? home : std::vector<std::string>{"no memory", ""}};
  }

  [[nodiscard]] std::vector<std::string> network_texts() const {
    const NetworkSpec& network = machine_.network;
    const std::string directories = "directories  " + machine_.directory.protocol;
    if (machine_.nodes == 1) return {directories};
    std::string links = fmt::format("network  {}", word_of(network.topology));
    if (network.topology != Topology::links) {
      links += ", " + ns_text(network.latency_ns);
      links += network.topology == Topology::crossbar ? "" : " a link";
      if (network.bandwidth_mb_per_s > 0) links += fmt::format(", {:g} MB/s each way", network.bandwidth_mb_per_s);
    }
    return {links, directories};
  }

  // From each node to each, over the network alone.
  [[nodiscard]] std::string distances() const {
    constexpr int kMostNodes = 12;
    if (machine_.nodes == 1 || machine_.nodes > kMostNodes) return "";
    const NetworkMap map = lay_links(machine_.network, machine_.nodes);
    const std::vector<std::vector<double>> beside = pair_costs_ns(machine_.network, machine_.nodes);
    std::vector<Column> columns = {{"ns to node", Fit::text, 12, 0, Colour::none}};
    for (int to = 0; to < machine_.nodes; ++to) columns.push_back({std::to_string(to), Fit::figure, 7, 0, Colour::none});
    const Painter plain(false, columns_, columns_);
    Table table(std::move(columns), plain);
    for (int from = 0; from < machine_.nodes; ++from) {
      std::vector<Cell> cells = {fmt::format("from {}", from)};
      for (int to = 0; to < machine_.nodes; ++to) cells.emplace_back(from == to ? "-" : distance(map, beside, from, to));
      table.add(std::move(cells));
    }
    return "\n" + table.text();
  }

  static std::string distance(const NetworkMap& map, const std::vector<std::vector<double>>& beside, int from, int to) {
    double ns = 0;
    for (const int link : map.way(from, to)) ns += map.links[link].latency_ns;
    ns += beside[from][to];
    return fmt::format("{:g}", ns);
  }

  const MachineSpec& machine_;
  std::size_t columns_;
  MachineLayout layout_;
  std::vector<std::vector<int>> cpus_of_core_;
};

}  // namespace

std::string frequency_text(const Frequency& frequency) {
  const double mhz = static_cast<double>(frequency.numerator_mhz) / static_cast<double>(frequency.denominator);
  return fmt::format("{:.4g} MHz", mhz);
}

std::string size_text(int kib) {
  return kib >= 1024 && kib % 1024 == 0 ? fmt::format("{} MiB", kib / 1024) : fmt::format("{} KiB", kib);
}

std::string draw_topology(const MachineSpec& machine, std::size_t columns) {
  const Drawing drawn(machine, columns);
  return machine.has_nodes() ? drawn.nodes() : drawn.one_bus();
}

}  // namespace linebounce::sim
