#include "sim/config/node_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "models/bus/bus_places.hpp"
#include "models/coherence/bus_order.hpp"
#include "models/machine_layout.hpp"
#include "models/network/group_timing.hpp"
#include "models/network/topology.hpp"
#include "sim/config/schema.hpp"

namespace linebounce::sim {
namespace {

// A directory's entry has one bit for each bus, in a word.
constexpr int kMostBuses = 64;

class NodeChecks {
 public:
  NodeChecks(const MachineSpec& machine, const Settings& settings) : machine_(machine), settings_(settings) {}

  void one_bus() const {
    for (const auto& [path, count] :
         {std::pair{"machine.nodes", machine_.nodes}, {"machine.buses_per_node", machine_.buses_per_node}}) {
      if (count > 1) {
        refuse(path, fmt::format(
                         "{} need controllers behind their buses: give node.protocol and directory.protocol; legal without: 1",
                         count));
      }
    }
    for (const KeyInfo& key : schema_keys(part_names())) {
      const bool between_buses = key.path.starts_with("machine.node.") || key.path.starts_with("machine.directory.") ||
                                 key.path.starts_with("machine.network.") || key.path.starts_with("machine.group.") ||
                                 key.path.starts_with("machine.memory.node.");
      if (between_buses && is_shown(key, settings_)) {
        refuse(key.path, "has no effect, the machine is one bus: give node.protocol and directory.protocol, or leave this out");
      }
    }
  }

  void several_buses() const {
    if (machine_.directory.protocol.empty()) {
      refuse("machine.directory.protocol",
             "is missing: with node.protocol, homes have directories; legal: the name of a protocol with a directory's table, "
             "or a "
             "path");
    }
    const int buses = machine_.nodes * machine_.buses_per_node;
    if (buses > kMostBuses) {
      refuse(machine_.buses_per_node > 1 ? "machine.buses_per_node" : "machine.nodes",
             fmt::format("{} nodes of {} buses are {} buses; a directory's entry has room for {}", machine_.nodes,
                         machine_.buses_per_node, buses, kMostBuses));
    }
    cache();
    directory();
    network();
    for (const GroupSpec& group : machine_.groups) this->group(group);
  }

  void homes() const {
    const int page_bytes = machine_.memory.page_kib * 1024;
    if (!power_of_two(page_bytes) || page_bytes < machine_.bus.line_bytes) {
      refuse("machine.memory.page_kib",
             fmt::format("{} KiB make no page; legal: a power of two, and no less than a line of {} bytes",
                         machine_.memory.page_kib, machine_.bus.line_bytes));
    }
    reported([this] { core_places(machine_, lay_out(machine_)); });
    const std::vector<int> cores = lay_out(machine_).cores_on_bus;
    if (const int most = *std::max_element(cores.begin(), cores.end()); most > kMostOnBus) {
      refuse("machine.cpus", fmt::format("{} cores on one bus are more than a bus can have; legal: {}, or more buses or nodes",
                                         most, kMostOnBus));
    }
    for (const MemoryOfNodeSpec& memory : machine_.memory_of_node) memory_of_node(memory);
  }

 private:
  [[nodiscard]] PartNames part_names() const {
    PartNames names;
    for (const LinkSpec& link : machine_.network.links) names.links.push_back(link.name);
    for (const GroupSpec& group : machine_.groups) names.groups.push_back(group.name);
    for (const PairSpec& pair : machine_.network.pairs) names.pairs.push_back(pair.name);
    for (const MemoryOfNodeSpec& memory : machine_.memory_of_node) names.memories.push_back(memory.name);
    return names;
  }

  void group(const GroupSpec& group) const {
    const std::string table = fmt::format("machine.group.{}.", group.name);
    const std::string& shared = machine_.groups.front().protocol;
    if (const std::string& own = group.protocol; own != shared) {
      refuse(table + "protocol",
             fmt::format("all levels run one table; legal: {}, as {}", shared, machine_.groups.front().name));
    }
    const std::int64_t bytes = std::int64_t{group.size_kib} * 1024;
    const std::int64_t way_bytes = std::int64_t{group.ways} * machine_.bus.line_bytes;
    if (bytes > 0 && (bytes % way_bytes != 0 || !power_of_two(static_cast<int>(bytes / way_bytes)))) {
      refuse(table + "size_kib",
             fmt::format("{} KiB in {} ways of {}-byte lines make {:.6g} sets; the number of sets must be a power of two",
                         group.size_kib, group.ways, machine_.bus.line_bytes,
                         static_cast<double>(bytes) / static_cast<double>(way_bytes)));
    }
    const int entries = group.filter_entries;
    if (entries > 0 && (entries % group.filter_ways != 0 || !power_of_two(entries / group.filter_ways))) {
      refuse(table + "filter_entries",
             fmt::format("{} entries in {} ways make {:.6g} sets; the number of sets must be a power of two", entries,
                         group.filter_ways, static_cast<double>(entries) / group.filter_ways));
    }
    reported([&group] { stops_of_members(group); });
    reported([&group] { hops_between_stops(group); });
  }

  void memory_of_node(const MemoryOfNodeSpec& memory) const {
    const std::string path = "machine.memory.node." + memory.name;
    const int node = std::stoi(memory.name);
    const std::vector<int> with = lay_out(machine_).nodes_with_memory;
    if (std::find(with.begin(), with.end(), node) == with.end()) {
      refuse(path + ".latency_ns",
             fmt::format("node {} has no memory; legal: the nodes of memory.nodes, {}", node, fmt::join(with, ", ")));
    }
    if (memory.name != std::to_string(node)) refuse(path + ".latency_ns", "a node's number has no leading zeros");
    if (memory.banks == 0) refuse(path + ".banks", "0 is out of range; legal: -1, or 1 to 4096");
  }

  void cache() const {
    const NodeSpec& node = machine_.node;
    if (node.cache_size_kib == 0) return;
    const std::int64_t bytes = std::int64_t{node.cache_size_kib} * 1024;
    const std::int64_t way_bytes = std::int64_t{node.cache_ways} * machine_.bus.line_bytes;
    if (bytes % way_bytes != 0 || !power_of_two(static_cast<int>(bytes / way_bytes))) {
      refuse("machine.node.cache_size_kib",
             fmt::format("{} KiB in {} ways of {}-byte lines make {:.6g} sets; the number of sets must be a power of two",
                         node.cache_size_kib, node.cache_ways, machine_.bus.line_bytes,
                         static_cast<double>(bytes) / static_cast<double>(way_bytes)));
    }
  }

  void directory() const {
    const DirectorySpec& home = machine_.directory;
    if (home.entries == 0) return;
    if (home.entries % home.ways != 0 || !power_of_two(home.entries / home.ways)) {
      refuse("machine.directory.entries",
             fmt::format("{} entries in {} ways make {:.6g} sets; the number of sets must be a power of two", home.entries,
                         home.ways, static_cast<double>(home.entries) / home.ways));
    }
  }

  void network() const {
    const NetworkSpec& network = machine_.network;
    if (network.topology != Topology::links && !network.links.empty()) {
      refuse("machine.network.link." + network.links.front().name,
             "links are listed for topology = \"links\" only; choose that, or leave them out");
    }
    reported([this] { lay_links(machine_.network, machine_.nodes); });
    reported([this] { pair_costs_ns(machine_.network, machine_.nodes); });
    if (network.credits > 0 && !circle_of_links(lay_links(network, machine_.nodes)).empty()) {
      refuse(
          "machine.network.credits",
          fmt::format("with room for {} messages, links of this topology can wait for each other in a circle; legal: 0, or a "
                      "topology whose ways make no circle (crossbar, fully_connected, mesh, hypercube)",
                      network.credits));
    }
  }

  // What the models refuse says its key first.
  template <class Work>
  void reported(Work work) const {
    try {
      work();
    } catch (const std::invalid_argument& refused) {
      const std::string text = refused.what();
      const auto colon = text.find(": ");
      refuse(text.substr(0, colon), text.substr(colon + 2));
    }
  }

  [[noreturn]] void refuse(const std::string& path, const std::string& text) const {
    auto at = settings_.find(path);
    if (at == settings_.end()) at = settings_.find(path + ".latency_ns");  // a link's table: where its one required key stands
    const bool as_cpus = path == "machine.cpus_present" && at->second.origin.place == settings_.at("machine.cpus").origin.place;
    fail(at->second.origin, as_cpus ? "machine.cpus" : path, text);
  }

  const MachineSpec& machine_;
  const Settings& settings_;
};

}  // namespace

void check_nodes(const MachineSpec& machine, const Settings& settings) {
  const NodeChecks checks(machine, settings);
  if (machine.has_nodes()) {
    checks.several_buses();
  } else {
    checks.one_bus();
  }
  checks.homes();
}

}  // namespace linebounce::sim
