// A machine's NUMA nodes from its firmware's tables: SLIT, whose distances are only relative, and HMAT, which has latencies.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/sources/import_losses.hpp"
#include "sim/sources/machine_topology.hpp"

namespace linebounce::sim {

struct NumaNode {
  int number = 0;                 // the operating system's number
  std::vector<int> cpus;          // sorted; empty: the node has only memory, or the CPUs are not stated
  std::vector<double> distances;  // by node, in the order of NumaTables::nodes; empty: not stated
  // From HMAT, for the nearest CPUs.
  std::optional<double> read_latency_ns, read_mb_per_s;
};

struct NumaTables {
  std::vector<NumaNode> nodes;  // sorted by number
  Losses losses;

  [[nodiscard]] bool has_cpus() const;
  [[nodiscard]] bool has_latencies() const;
};

// Reads what `numactl -H` prints, and files of /sys/devices/system/node as `grep .` prints them: "node0/distance:10 21",
// "node0/cpulist:0-3", "node0/access0/initiators/read_latency:110". `file`: for messages. Errors: trace::TraceError.
NumaTables read_numa(const std::string& text, const std::string& file);

// The CPUs of each node; each CPU becomes a core. Errors: trace::TraceError if the text does not say which CPUs a node has.
MachineTopology topology_of(const NumaTables& tables, const std::string& file);

// The pairs of nodes that have a link, on the assumption that a larger distance means more links.
struct NodeLinks {
  bool all = true;                         // every two nodes
  std::vector<std::pair<int, int>> links;  // the linked pairs, by position in NumaTables::nodes; empty if every pair is linked
  bool keeps_order = true;                 // true if pairs with a larger distance also have more links between them
};
NodeLinks links_by_distance(const NumaTables& tables);

}  // namespace linebounce::sim
