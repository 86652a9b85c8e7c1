// Reads a machine's NUMA nodes from its firmware's tables: SLIT, which has only relative distances, and HMAT, which has
// latencies. Intel's MLC measures such latencies.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forms/import_losses.hpp"
#include "forms/machine_topology.hpp"

namespace linebounce::sim {

struct NumaNode {
  int number = 0;                 // the operating system's number
  std::vector<int> cpus;          // sorted; empty: the node has only memory, or its CPUs are not stated
  std::vector<double> distances;  // to each node, in the order of NumaTables::nodes; empty: not stated
  // For the nearest CPUs; none if not stated.
  std::optional<double> read_latency_ns, read_mb_per_s;
};

struct NumaTables {
  std::vector<NumaNode> nodes;          // sorted by number
  std::string latencies_from = "HMAT";  // the source of the latencies
  // The mean latency of memory from CPUs of another node; none if the source has only the nearest CPUs.
  std::optional<double> other_node_ns = {};
  Losses losses;

  [[nodiscard]] bool has_cpus() const;
  [[nodiscard]] bool has_latencies() const;
};

// Reads the output of `numactl -H`; files of /sys/devices/system/node as `grep .` prints them: "node0/distance:10 21",
// "node0/cpulist:0-3", "node0/access0/initiators/read_latency:110"; HMAT as the kernel logs it; SLIT and HMAT as `iasl -d`
// prints them.
// `file`: for messages. Errors: trace::TraceError.
NumaTables read_numa(const std::string& text, const std::string& file);

// The idle latencies that MLC measured, as those of nodes. REQUIRES: `mlc` has some.
NumaTables tables_of(const MlcLatencies& mlc);

// Returns the CPUs of each node; each CPU counts as a core of its own. Errors: trace::TraceError if the text does not tell
// which CPUs a node has.
MachineTopology topology_of(const NumaTables& tables, const std::string& file);

// Guesses which nodes are linked, assuming that a larger distance means more links on the way.
struct NodeLinks {
  bool all = true;                         // true: every two nodes are linked
  std::vector<std::pair<int, int>> links;  // pairs of positions in NumaTables::nodes; may be empty if `all` is true
  bool keeps_order = true;                 // true if pairs with a larger distance have more links on their way, as assumed
};
NodeLinks links_by_distance(const NumaTables& tables);

}  // namespace linebounce::sim
