// Reads descriptions of real machines. lscpu, hwloc's lstopo, Coreinfo and sysctl tell which CPUs share a core, a cache, a
// package and a NUMA node. Intel's Memory Latency Checker measures latencies between nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forms/excerpt.hpp"
#include "forms/import_losses.hpp"

namespace linebounce::sim {

struct TopologyCpu {
  int number = 0;  // the operating system's number
  int node = 0, package = 0, cache = 0,
      // Numbers are unique in the machine. `cache`: the CPU's last-level cache; the package if the tool names no cache.
      core = 0;
};

// A data or unified cache, as the CPU with the lowest number has it.
struct TopologyCache {
  int level = 0;
  std::int64_t bytes = 0;  // of one such cache; 0: not stated
  int ways = 0;            // 0: not stated
  int line_bytes = 0;      // 0: not stated
  int cpus = 0;            // CPUs that share it; 0: not stated
  int instances = 0;       // such caches in the machine; 0: not stated
  bool operator==(const TopologyCache&) const = default;
};

struct MachineTopology {
  std::vector<TopologyCpu> cpus;           // sorted by number
  std::string shared_cache;                // "L3"; empty: the text has no cache that cores share
  std::vector<TopologyCache> caches = {};  // sorted by level; empty: not stated
  // The processor's model as the kernel names it, "AMD EPYC 7763 64-Core Processor"; empty: unknown.
  std::string processor = {};
  std::optional<double> mhz = {};  // the cores' highest clock; none: not stated
  Losses losses = {};
};

// `file`: for messages. Errors: trace::TraceError if the text is not the tool's output, or does not tell which CPUs share a
// core.
MachineTopology read_lscpu(const std::string& text, const std::string& file);
// Reads the processor, its clock and its caches from lscpu's text, which need not list CPUs.
MachineTopology read_lscpu_facts(const std::string& text);
// False for lscpu -C alone, which lists caches and no CPUs.
bool says_what_cpus_share(const std::string& lscpu_text);
// True for the table of lscpu -p, with its titles or without them.
bool is_lscpu_table(const Excerpt& excerpt);
MachineTopology read_lstopo(const std::string& text, const std::string& file);
MachineTopology read_coreinfo(const std::string& text, const std::string& file);
MachineTopology read_sysctl(const std::string& text, const std::string& file);

// Adds to `topology` what it lacks and another description of the same machine has: the processor, its clock, its caches.
void add_what_is_missing(MachineTopology& topology, const MachineTopology& other);

// What MLC measured while all other CPUs read memory at one rate: a row of its table of loaded latencies.
struct LoadedLatency {
  double ns = 0;
  double mb_per_s = 0;
};

struct MlcLatencies {
  double local_hitm_ns = 0;  // 0: the text has no latencies from cache to cache
  // [writer's node][reader's node], averaged over both homes of the line; empty if there is only one node
  std::vector<std::vector<double>> remote_hitm_ns;
  // Idle latencies of memory, [CPU's node][memory's node]; empty if the text has none.
  std::vector<std::vector<double>> idle_ns = {};
  std::vector<LoadedLatency> loaded = {};
  Losses losses;
};

// Errors: trace::TraceError if the text has neither latencies from cache to cache nor idle latencies of memory.
MlcLatencies read_mlc(const std::string& text, const std::string& file);

// Begins the text of loaded_latencies_csv().
constexpr const char* kLoadedLatenciesTitle = "# Loaded latencies by MLC";

// The loaded latencies as a CSV file for `linebounce validate load_to_use --against`: each row's latency and rate.
std::string loaded_latencies_csv(const std::vector<LoadedLatency>& loaded);

}  // namespace linebounce::sim
