// Makes a machine from the firmware's tables of NUMA nodes, or from latencies of their memories. Parameters that the tables
// lack come from another machine.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "commands/calibrate/calibrate.hpp"
#include "commands/calibrate/processor_family.hpp"
#include "commands/import/importers.hpp"
#include "forms/numa.hpp"
#include "forms/recognised.hpp"
#include "models/spec_binder.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/contention.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBase = "generic_2socket_32core";
// Measured by the workload `load_to_use` on that machine: local memory takes 53 ns more than memory.latency_ns, the other
// node's memory another 52 ns.
constexpr double kWayToMemoryNs = 53;
constexpr double kWayBetweenNodesNs = 52;

class NumaMachine {
 public:
  NumaMachine(NumaTables tables, const MachineTopology& topology, std::string file)
      : tables_(std::move(tables)), file_(std::move(file)), losses_(tables_.losses) {
    for (const TopologyCpu& cpu : topology.cpus) cpus_by_node_[cpu.node].push_back(static_cast<int>(cpus_++));
    if (cpus_ > static_cast<std::size_t>(kMostCpus) || tables_.nodes.size() > static_cast<std::size_t>(kMostNodes))
      throw ConfigError(fmt::format("{}: {} CPUs on {} nodes; a machine has at most {} CPUs and {} nodes", file_, cpus_,
                                    tables_.nodes.size(), kMostCpus, kMostNodes));
    if (!cpus_by_node_.empty() && cpus_by_node_.rbegin()->first >= std::ssize(tables_.nodes))
      throw ConfigError(fmt::format("{}: has {} nodes, and the other file more", file_, tables_.nodes.size()));
    losses_.add(topology.losses);
    if (tables_.latencies_from == "MLC") losses_.add(Loss::no_transfers, "MLC", kBase);
    losses_.add(Loss::rest_of_machine, file_, kBase);
  }

  // Sets the contention family, and the memory order, clock and lines that follow from it or from the processor's name.
  void set_family(const ChosenFamily& family, const std::optional<NamedProcessor>& named) {
    machine_.insert_or_assign("contention", family.name);
    source("contention", family.source);
    const UsualValues usual = usual_values(family.name, named);
    if (!usual.known.consistency.empty()) {
      table("cpu").insert_or_assign("consistency", usual.known.consistency);
      source("cpu.consistency", usual.source);
    }
    for (const char* cache : {"L1D", "L2"}) {
      if (usual.known.line_bytes == 0) break;
      table("cache")[cache].as_table()->insert_or_assign("line_bytes", usual.known.line_bytes);
      source(std::string("cache.") + cache + ".line_bytes", usual.source);
    }
    if (!named || !named->mhz) return;
    table("cpu").insert_or_assign("clock_mhz", static_cast<std::int64_t>(*named->mhz));
    source("cpu.clock_mhz", "datasheet: the clock in " + named->name);
  }

  void set_os_nodes(const std::string& nodes) {
    machine_.insert_or_assign("os_nodes", nodes);
    source("os_nodes", "assumed: --os-nodes says so");
  }

  [[nodiscard]] const toml::table& made() const { return machine_; }
  [[nodiscard]] std::string found_text() const { return fmt::format("{} CPUs on {} nodes", cpus_, tables_.nodes.size()); }

  void make(const std::string& name) {
    const std::string base = find_file(kMachineFiles, kBase, "", "").string();
    machine_ = parse_toml(read_text(base), base);
    machine_.erase("history");
    toml::table copied;
    for (const auto& [path, text] : *machine_["sources"].as_table())
      copied.insert(path, std::string("assumed: copied from ") + kBase);
    machine_.insert_or_assign("sources", std::move(copied));
    machine_.insert_or_assign("name", name);
    machine_.insert_or_assign(
        "title", fmt::format("{} CPUs on {} nodes, of {}; the rest is {}'s", cpus_, tables_.nodes.size(), file_, kBase));
    set_cpus();
    set_network();
    set_memory();
  }

  [[nodiscard]] const Losses& losses() const { return losses_; }

 private:
  void source(const std::string& key, const std::string& text) { machine_["sources"].as_table()->insert_or_assign(key, text); }
  toml::table& table(const char* name) { return *machine_[name].as_table(); }

  void set_cpus() {
    std::size_t most = 0;
    std::vector<int> nodes;
    for (const auto& [node, cpus] : cpus_by_node_) {
      most = std::max(most, cpus.size());
      nodes.push_back(node);
    }
    std::vector<std::size_t> places(cpus_);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::vector<int>& cpus = cpus_by_node_.at(nodes[i]);
      for (std::size_t k = 0; k < cpus.size(); ++k) places[cpus[k]] = i * most + k;
    }
    machine_.insert_or_assign("cpus", static_cast<std::int64_t>(cpus_));
    machine_.insert_or_assign("cpus_present", static_cast<std::int64_t>(most * nodes.size()));
    machine_.insert_or_assign("nodes", static_cast<std::int64_t>(tables_.nodes.size()));
    machine_.insert_or_assign("cpu_list", fmt::format("{}", fmt::join(places, " ")));
    if (nodes.size() < tables_.nodes.size()) machine_.insert_or_assign("cpu_nodes", fmt::format("{}", fmt::join(nodes, " ")));
    for (const char* key : {"cpus", "nodes", "cpu_list", "cpu_nodes"}) source(key, "datasheet: the nodes in " + file_);
  }

  void set_network() {
    // A load from another node passes the network twice.
    if (tables_.other_node_ns && mean_own_ns() > 0) {
      toml::table& all = table("network");
      const double way = *tables_.other_node_ns - mean_own_ns() - kWayBetweenNodesNs;
      all.insert_or_assign("latency_ns", std::max(0.0, *all["latency_ns"].value<double>() + way / 2));
      source("network.latency_ns", fmt::format("datasheet: {} in {}, memory of another node", tables_.latencies_from, file_));
    }
    const NodeLinks links = links_by_distance(tables_);
    if (!links.keeps_order) losses_.add(Loss::distances_not_kept, "SLIT");
    if (links.all) return;
    toml::table& network = table("network");
    const toml::table link{{"latency_ns", *network["latency_ns"].value<double>()},
                           {"bandwidth_mb_per_s", *network["bandwidth_mb_per_s"].value<double>()}};
    toml::table all;
    for (const auto& [a, b] : links.links) all.insert(fmt::format("{}_{}", a, b), link);
    network.insert_or_assign("topology", "links");
    network.insert_or_assign("link", std::move(all));
    source("network.topology", "datasheet: links between the nodes with the smallest distances in " + file_);
  }

  // The mean latency of a node's own memory, of the nodes with CPUs; 0 if not stated.
  [[nodiscard]] double mean_own_ns() const {
    double sum = 0;
    int count = 0;
    for (const auto& [node, cpus] : cpus_by_node_) {
      if (const auto ns = tables_.nodes[node].read_latency_ns) sum += *ns, ++count;
    }
    return count > 0 ? sum / count : 0;
  }

  void set_memory() {
    if (!tables_.has_latencies()) {
      losses_.add(Loss::no_memory_latency, file_, kBase);
      return;
    }
    if (!tables_.other_node_ns) losses_.add(Loss::nearest_alone, tables_.latencies_from, kBase);
    toml::table nodes;
    for (std::size_t i = 0; i < tables_.nodes.size(); ++i) {
      const NumaNode& node = tables_.nodes[i];
      const bool is_alone = !cpus_by_node_.contains(static_cast<int>(i));
      toml::table own;
      if (node.read_latency_ns) {
        const double way = kWayToMemoryNs + (is_alone ? kWayBetweenNodesNs : 0);
        own.insert("latency_ns", std::max(1.0, *node.read_latency_ns - way));
      }
      if (node.read_mb_per_s) own.insert("bandwidth_mb_per_s", *node.read_mb_per_s);
      if (!own.empty()) nodes.insert(std::to_string(i), std::move(own));
    }
    table("memory").insert_or_assign("node", std::move(nodes));
    source("memory.node",
           fmt::format("datasheet: {} in {}; the latency is without the way to the memory", tables_.latencies_from, file_));
  }

  NumaTables tables_;
  std::string file_;
  Losses losses_;
  std::map<int, std::vector<int>> cpus_by_node_;  // keys: indexes of nodes; values: their CPUs, renumbered without gaps
  std::size_t cpus_ = 0;
  toml::table machine_;
};

void print_nodes(const NumaTables& tables, const MachineTopology& topology, const Painter& paint) {
  Table table({figures("node", 6), figures("CPUs", 6, 1), figures("memory", 9, 1), words("distances", 0, 2)}, paint);
  table.add_rule();
  for (int at = 0; at < std::ssize(tables.nodes); ++at) {
    const NumaNode& node = tables.nodes[at];
    const auto cpus = std::ranges::count(topology.cpus, at, &TopologyCpu::node);
    table.add({std::to_string(node.number), std::to_string(cpus),
               node.read_latency_ns ? fmt::format("{:g} ns", *node.read_latency_ns) : "",
               fmt::format("{}", fmt::join(node.distances, " "))});
  }
  std::cout << table.text() << "\n";
}

}  // namespace

ExitCode import_numa(const ImportArguments& arguments, const std::string& file,
                     const std::optional<MachineTopology>& structure) {
  return import_nodes(arguments, read_numa(read_data(file), file), file, structure);
}

ExitCode import_nodes(const ImportArguments& arguments, const NumaTables& tables, const std::string& file,
                      const std::optional<MachineTopology>& structure, const std::vector<LoadedLatency>& loaded) {
  const fs::path out = output_of(arguments, ".toml");
  const MachineTopology topology = structure ? *structure : topology_of(tables, file);
  NumaMachine machine(tables, topology, fs::path(file).filename().string());
  const std::optional<NamedProcessor> named = find_processor({{topology.processor, "as the description of its CPUs names it"},
                                                              {fs::path(file).stem().string(), "by the file's name"}});
  ChosenFamily family = family_of(arguments.family, named);
  if (family.name.empty()) family = ask_or_refuse(family_question(), file, machine.found_text(), named);
  load_family(family.name, "--family");
  std::string text = fmt::format("# Written by `linebounce import {}`.\n", fmt::join(arguments.files, " "));
  machine.make(out.stem().string());
  machine.set_family(family, named);
  if (!arguments.os_nodes.empty()) machine.set_os_nodes(arguments.os_nodes);
  const toml::table& of = machine.made();
  for (const std::string& sentence : machine.losses().sentences()) text += "# " + sentence + "\n";
  text += "\n" + to_toml(of);
  read_machine(text, out.string());
  Losses losses = machine.losses();
  const std::string score = keep_as_prediction(loaded, out.string(), losses);
  write_file(out, text);
  const Painter paint = arguments.painter();
  print_nodes(tables, topology, paint);
  std::cout << losses_text(losses, paint)
            << fmt::format("\n  {}  of {}: a machine\n  See it:  linebounce describe machine {}\n{}", out.string(), file,
                           shell_word(out.string()), score);
  return ExitCode::done;
}

}  // namespace linebounce::sim
