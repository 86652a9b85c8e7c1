// Checks whether the parts of a machine fit together. Checks of a single key's value are in the schema.
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "models/bus/bus_places.hpp"
#include "models/coherence/bus_order.hpp"
#include "models/machine_layout.hpp"
#include "models/machine_spec.hpp"
#include "models/network/group_timing.hpp"
#include "models/network/topology.hpp"
#include "sim/config/machine_tables.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/schema.hpp"
#include "sim/config/settings.hpp"

namespace linebounce::sim {
namespace {

inline bool power_of_two(int value) {
  return value > 0 && std::has_single_bit(static_cast<unsigned>(value));
}

// True if a file, the user or the contention family sets a parameter with this prefix. Spares most checks of defaults.
bool is_any_set(const Settings& settings, std::string_view prefix) {
  for (auto at = settings.lower_bound(std::string(prefix)); at != settings.end() && at->first.starts_with(prefix); ++at) {
    if (at->second.from != Setting::From::schema) return true;
  }
  return false;
}

// A directory entry tracks sharers in one 64-bit word, with a bit for each bus.
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
    for (const char* part :
         {"machine.node.", "machine.directory.", "machine.network.", "machine.group.", "machine.memory.node."}) {
      if (is_any_set(settings_, part)) refuse_shown_keys(part);
    }
  }

  void refuse_shown_keys(const char* part) const {
    for (const KeyInfo& key : schema_keys(part_names(), {part})) {
      if (is_shown(key, settings_)) {
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
             fmt::format("{} KiB is not a page size; legal: powers of two, at least a line of {} bytes",
                         machine_.memory.page_kib, machine_.bus.line_bytes));
    }
    reported([this] { core_places(machine_, lay_out(machine_)); });
    const std::vector<int> cores = lay_out(machine_).cores_on_bus;
    if (const int most = *std::ranges::max_element(cores); most > kMostOnBus) {
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
    if (std::ranges::find(with, node) == with.end()) {
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

  // Runs a check that throws std::invalid_argument("PATH: TEXT"), and reports it as a ConfigError at that path.
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
    // If `path` is a link's table, takes its position from `latency_ns`, the link's only required key.
    if (at == settings_.end()) at = settings_.find(path + ".latency_ns");
    const bool as_cpus = path == "machine.cpus_present" && at->second.origin.place == settings_.at("machine.cpus").origin.place;
    fail(at->second.origin, as_cpus ? "machine.cpus" : path, text);
  }

  const MachineSpec& machine_;
  const Settings& settings_;
};

// REQUIRES: `machine` is the typed form of `settings`, and its coherence line size is filled in. Errors: ConfigError at the
// key to change.
void check_nodes(const MachineSpec& machine, const Settings& settings) {
  const NodeChecks checks(machine, settings);
  if (machine.has_nodes()) {
    checks.several_buses();
  } else {
    checks.one_bus();
  }
  checks.homes();
}

class Checks {
 public:
  Checks(MachineSpec& machine, const Settings& settings) : machine_(machine), settings_(settings) {}

  // The name must be a valid directory name, because a study of a trace on several machines makes a directory for each.
  void name() const {
    if (!machine_.name.empty() && !names_directory(machine_.name))
      refuse("machine.name", fmt::format("\"{}\" {}", machine_.name, kNoDirectoryName));
  }

  void cpus() const {
    if (machine_.cpus > machine_.cpus_present) {
      refuse("machine.cpus", fmt::format("{} is more than the machine's {}; legal: 1 to {}", machine_.cpus,
                                         machine_.cpus_present, machine_.cpus_present));
    }
    if (machine_.cpus_present % machine_.cpu.threads_per_core != 0) {
      refuse("machine.cpu.threads_per_core",
             fmt::format("{} does not divide the machine's {} CPUs", machine_.cpu.threads_per_core, machine_.cpus_present));
    }
    const bool buffered = machine_.cpu.store_buffer_entries > 0;
    if (buffered == (machine_.cpu.consistency == Consistency::sc)) {
      refuse("machine.cpu.store_buffer_entries",
             buffered ? "consistency = \"sc\" has no store buffer; legal: 0, or consistency \"tso\" or \"ia64\""
                      : "0 is out of range; consistency \"tso\" and \"ia64\" need a store buffer: 1 or more entries");
    }
  }

  void refuse_footprint_without_effect() const {
    for (const KeyInfo& key : schema_keys({}, {"machine.footprint."})) {
      if (has_effect(key, settings_) || !is_shown(key, settings_)) continue;
      const std::string needed = shown(key.needs, settings_.at(key.path).origin);
      refuse(key.path, fmt::format("has no effect, {} is 0: give that, or leave this out", needed));
    }
  }

  void footprint() const {
    if (is_any_set(settings_, "machine.footprint.")) refuse_footprint_without_effect();
    const FootprintSpec& footprint = machine_.footprint;
    if (footprint.tlb_entries % footprint.tlb_ways != 0) {
      refuse("machine.footprint.tlb_ways",
             fmt::format("{} does not divide the {} entries", footprint.tlb_ways, footprint.tlb_entries));
    }
    const int bytes = footprint.code_cache_kib * 1024;
    if (bytes % (footprint.code_cache_ways * footprint.code_line_bytes) != 0) {
      refuse("machine.footprint.code_cache_ways",
             fmt::format("{} KiB are not a whole number of sets of {} lines of {} bytes", footprint.code_cache_kib,
                         footprint.code_cache_ways, footprint.code_line_bytes));
    }
  }

  void cache(std::size_t level) const {
    const CacheSpec& cache = machine_.caches[level];
    const std::string at = "machine.cache." + cache.name + ".";
    if (level == kMostLevels) {
      refuse(at + "size_kib",
             fmt::format("{} is one level too many; legal: 1 to {} private caches of a core", cache.name, level));
    }
    if (!power_of_two(cache.line_bytes)) refuse(at + "line_bytes", fmt::format("{} is not a power of two", cache.line_bytes));
    const int bytes = cache.size_kib * 1024;
    const int way_bytes = cache.ways * cache.line_bytes;
    if (bytes % way_bytes != 0 || !power_of_two(bytes / way_bytes)) {
      refuse(typed_of({at + "size_kib", at + "ways", at + "line_bytes"}),
             fmt::format("{} KiB in {} ways of {}-byte lines make {:.6g} sets; the number of sets must be a power of two",
                         cache.size_kib, cache.ways, cache.line_bytes, static_cast<double>(bytes) / way_bytes));
    }
    if (cache.replacement == Replacement::tree_plru && !power_of_two(cache.ways)) {
      refuse(at + "replacement",
             fmt::format("tree_plru needs a power of two of ways; {} has {}; use lru", cache.name, cache.ways));
    }
    if (level > 0) against_inner(machine_.caches[level - 1], cache, at);
  }

  void bus() {
    const int line = machine_.caches.back().line_bytes;
    if (machine_.bus.line_bytes == 0) machine_.bus.line_bytes = line;
    if (machine_.bus.line_bytes != line) {
      refuse("machine.bus.line_bytes",
             fmt::format("{} differs from the {} bytes of cache {}: all coherence lines on a bus have one size "
                         "(machine.line_bytes sets them all)",
                         machine_.bus.line_bytes, line, machine_.caches.back().name));
    }
    if (line % machine_.bus.width_bytes != 0) {
      refuse("machine.bus.width_bytes",
             fmt::format("{} does not divide the coherence line of {} bytes", machine_.bus.width_bytes, line));
    }
  }

  void protocols() const {
    for (const std::string_view path : kProtocolKeys) {
      const Setting& setting = settings_.at(std::string(path));
      const auto& name = std::get<std::string>(setting.value);
      const bool needed = path == "machine.bus.protocol" || !name.empty();
      if (needed) find_file(kProtocolFiles, name, "", located(setting.origin, path));
    }
    for (const GroupSpec& group : machine_.groups) {
      const std::string path = fmt::format("machine.group.{}.protocol", group.name);
      const Setting& setting = settings_.at(path);
      find_file(kProtocolFiles, group.protocol, "", located(setting.origin, path));
    }
  }

 private:
  static std::string shown(const std::string& path, const Origin& origin) {
    return path.substr(path.starts_with(origin.hidden) ? origin.hidden.size() : 0);
  }

  [[noreturn]] void refuse(const std::string& path, const std::string& text) const {
    fail(settings_.at(path).origin, path, text);
  }

  // Of values that contradict each other, the one to blame: what the command line gives, else the first.
  [[nodiscard]] std::string typed_of(const std::vector<std::string>& paths) const {
    const auto is_typed = [this](const std::string& path) { return settings_.at(path).origin.is_typed; };
    const auto typed = std::ranges::find_if(paths, is_typed);
    return typed == paths.end() ? paths.front() : *typed;
  }

  void against_inner(const CacheSpec& inner, const CacheSpec& outer, const std::string& at) const {
    if (outer.line_bytes % inner.line_bytes != 0) {
      refuse("machine.cache." + inner.name + ".line_bytes", fmt::format("{} does not divide the {} bytes of the next level, {} "
                                                                        "(machine.line_bytes sets all levels)",
                                                                        inner.line_bytes, outer.line_bytes, outer.name));
    }
    if (outer.inclusive && outer.size_kib < inner.size_kib) {
      refuse(at + "size_kib", fmt::format("{} KiB cannot include the {} KiB of {}; make it larger or set inclusive = false",
                                          outer.size_kib, inner.size_kib, inner.name));
    }
  }

  MachineSpec& machine_;
  const Settings& settings_;
};

}  // namespace

void check_machine(MachineSpec& machine, const Settings& settings) {
  Checks checks(machine, settings);
  checks.name();
  checks.cpus();
  for (std::size_t level = 0; level < machine.caches.size(); ++level) checks.cache(level);
  checks.footprint();
  checks.bus();
  checks.protocols();
  check_nodes(machine, settings);
}

}  // namespace linebounce::sim
