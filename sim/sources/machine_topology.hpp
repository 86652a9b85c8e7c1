// Which CPUs of a real machine share a core, a cache, a package and a NUMA node, as lscpu and hwloc's lstopo tell it; and what
// Intel's Memory Latency Checker measured between its nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/sources/losses.hpp"

namespace linebounce::sim {

struct TopologyCpu {
  int number = 0;  // the operating system's
  int node = 0, package = 0, cache = 0,
      core = 0;  // of the whole machine; `cache`: the largest that cores share, or the package
};

struct MachineTopology {
  std::vector<TopologyCpu> cpus;  // by number
  std::string shared_cache;       // "L3"; empty: the text names none that cores share
  Losses losses;
};

// `file` is for messages. Errors: trace::TraceError, also for a text that does not say which CPUs share a core.
MachineTopology read_lscpu(const std::string& text, const std::string& file);
MachineTopology read_lstopo(const std::string& text, const std::string& file);

struct MlcLatencies {
  double local_hitm_ns = 0;
  std::vector<std::vector<double>> remote_hitm_ns;  // by writer's and reader's node, the mean of both homes; empty: one node
  Losses losses;
};

// Errors: trace::TraceError for a text without latencies from cache to cache.
MlcLatencies read_mlc(const std::string& text, const std::string& file);

}  // namespace linebounce::sim
