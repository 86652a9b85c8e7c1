// Which CPUs of a real machine share a core, a cache, a package and a NUMA node, according to lscpu or hwloc's lstopo; and
// latencies between nodes, measured by Intel's Memory Latency Checker.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/sources/import_losses.hpp"

namespace linebounce::sim {

struct TopologyCpu {
  int number = 0;  // the operating system's number
  int node = 0, package = 0, cache = 0,
      // Numbers are unique in the whole machine. `cache`: the largest cache that several cores share, else the package.
      core = 0;
};

struct MachineTopology {
  std::vector<TopologyCpu> cpus;  // sorted by number
  std::string shared_cache;       // "L3"; empty: the text has no cache that cores share
  std::string processor = {};     // its model, as the kernel names it: "AMD EPYC 7763 64-Core Processor"; empty: unknown
  Losses losses = {};
};

// `file`: for messages. Errors: trace::TraceError, also if the text does not say which CPUs share a core.
MachineTopology read_lscpu(const std::string& text, const std::string& file);
MachineTopology read_lstopo(const std::string& text, const std::string& file);

struct MlcLatencies {
  double local_hitm_ns = 0;
  // by the nodes of writer and reader, averaged over both homes; empty if there is only one node
  std::vector<std::vector<double>> remote_hitm_ns;
  Losses losses;
};

// Errors: trace::TraceError if the text has no cache-to-cache latencies.
MlcLatencies read_mlc(const std::string& text, const std::string& file);

}  // namespace linebounce::sim
