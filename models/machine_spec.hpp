// The specification of a machine: plain values in the units of the machine file. Initialisers are the defaults. Each part's
// bind() declares the part's keys (spec_binder.hpp), in the order in which commands list them to users.
#pragma once

#include <string>
#include <vector>

#include "models/bus_spec.hpp"
#include "models/cpu_spec.hpp"
#include "models/node_spec.hpp"

namespace linebounce {

enum class CpuOrder { spread, fill, fill_cores };
template <>
inline constexpr auto kWordsOf<CpuOrder> = std::to_array<std::string_view>({"spread", "fill", "fill_cores"});

// Settings of the simulation engine: speed-ups that change no result, and switches for the tests that prove it.
struct EngineSpec {
  bool run_ahead = true;
  bool parked_spins = true;
  bool reverse_construction = false;
  bool step_listener = false;
  int horizon_slack_ticks = 0;  // 1 breaks run-ahead, so that a test sees invariants I1 and I2 (docs/engine.md) fail
  double watchdog_us = 100000;
  // Not a machine-file key: set when a failed run is repeated, to print the last rows executed for the failing line.
  bool line_history = false;

  void bind(SpecBinder& keys) {
    keys.flag("run_ahead", run_ahead, "cores run ahead of the machine's time while they hit");
    keys.flag("parked_spins", parked_spins, "spinning CPUs sleep until their line changes");
    keys.flag("reverse_construction", reverse_construction, "build and start the cores in the opposite order");
    keys.flag("step_listener", step_listener, "attach a listener to every step that ignores what it hears");
    keys.number("horizon_slack_ticks", "ticks", horizon_slack_ticks, 0, 1e6,
                "self-test: 1 or more breaks run-ahead on purpose");
    keys.number("watchdog_us", "us", watchdog_us, 1, kMostUs, "simulated time without any completed operation that is no spin");
  }
};

struct MachineSpec {
  std::string name;
  std::string title;
  std::string contention;
  int cpus = 0;
  int cpus_present = 0;  // 0 in the machine file: as many as `cpus`; never 0 once the file has been checked
  CpuOrder cpu_order = CpuOrder::spread;
  std::string cpu_list;
  int nodes = 1;
  int buses_per_node = 1;
  std::string cpu_nodes = "all";
  std::string os_nodes;
  int line_bytes = 0;  // 0: each cache and bus states its own
  CpuSpec cpu;
  FootprintSpec footprint;
  std::vector<CacheSpec> caches;
  BusSpec bus;
  NodeSpec node;
  DirectorySpec directory;
  NetworkSpec network;
  MemorySpec memory;
  std::vector<MemoryOfNodeSpec> memory_of_node;
  std::vector<GroupSpec> groups;

  [[nodiscard]] bool has_nodes() const { return !node.protocol.empty(); }

  void bind(SpecBinder& keys) {
    constexpr ParameterTraits kOfNodes{.needs = kNeedsNodes};
    keys.text("name", name, "the name in results", {.required = true, .structural = true});
    keys.text("title", title, "one line for people", {.structural = true});
    keys.text("contention", contention,
              "the family of processors (configs/families) that says what waiting costs where this file does not; empty: the "
              "usual one of such a machine");
    keys.number("cpus_present", "", cpus_present, 0, kMostCpus, "hardware threads that the machine has; 0: as many as `cpus`",
                {.structural = true});
    keys.number("cpus", "", cpus, 1, kMostCpus, "hardware threads in use", kRequired);
    keys.word("cpu_order", cpu_order,
              "which hardware threads come first: spread over nodes, buses and cores; fill one node after the other; "
              "fill_cores: so, but second threads of cores last");
    keys.text("cpu_list", cpu_list,
              "the hardware threads of CPU 0, 1, ..., by numbers as `fill` gives them: \"0 8 1 9\"; empty: by cpu_order");
    keys.number("nodes", "", nodes, 1, kMostNodes, "nodes, joined by the network", kOfNodes);
    keys.number("buses_per_node", "", buses_per_node, 1, kMostNodes,
                "front-side buses in a node, each with a controller of its own", kOfNodes);
    keys.text("cpu_nodes", cpu_nodes, "the nodes that have CPUs: \"all\", or numbers, \"0 1\"", kOfNodes);
    keys.text("os_nodes", os_nodes,
              "the operating system's nodes: \"machine\" (one), \"nps2\" or \"nps4\" (2 or 4 in each node), \"cache\" (one for "
              "each last-level cache), or a number for each bus, \"0 0 1 1\"; empty: the nodes of this machine",
              {.needs = "machine.os_nodes"});
    keys.number("line_bytes", "bytes", line_bytes, 0, kLargestLine,
                "line size of every cache and bus; 0: each of them states its own", {.needs = "machine.line_bytes"});
    keys.part("cpu", cpu);
    keys.part("footprint", footprint);
    keys.parts("cache", caches);
    keys.part("bus", bus);
    keys.part("memory", memory);
    keys.parts("memory.node", memory_of_node, kNeedsNodes);
    keys.part("node", node, kNeedsNodes);
    keys.parts("group", groups, kNeedsNodes);
    keys.part("directory", directory, kNeedsNodes);
    keys.part("network", network, kNeedsNodes);
  }
};

}  // namespace linebounce
