// The places of a machine's CPUs and memory: a pure function of its specification.
#pragma once

#include <vector>

#include "models/machine_spec.hpp"

namespace linebounce {

struct CpuPlace {
  int node = 0;
  int bus = 0;     // in the machine: node * buses_per_node + the bus in the node
  int core = 0;    // in the machine, counted bus by bus
  int thread = 0;  // in the core
};

struct MachineLayout {
  std::vector<CpuPlace> cpus;          // CPUs in use, by number
  std::vector<int> cores_on_bus;       // by bus: cores with a CPU in use
  std::vector<int> seat_of_core;       // by core in use: its number among all cores present, as `fill` numbers them
  int cores_present = 0;               // in use or not
  std::vector<int> nodes_with_memory;  // ascending
  int buses_per_node = 1;

  // The network's endpoints are node controllers by bus, then directories by node, then groups. An endpoint sends its requests
  // to a parent, where it has a number: among the members of a group, or among the agents of the directories.
  struct Place {
    int parent = -1;  // a group's endpoint; -1: the homes' directories
    int number = 0;
  };
  struct Group : Place {
    int level = 0;  // index in MachineSpec::groups
    int node = 0;
    std::vector<int> members = {};  // endpoints
  };
  std::vector<Place> place_of_bus;
  std::vector<Group> groups;  // the level nearest to the cores first
  std::vector<int> agents;    // endpoints that talk to directories

  [[nodiscard]] int first_group() const { return static_cast<int>(cores_on_bus.size()) + nodes(); }
  [[nodiscard]] const Group& group_at(int endpoint) const { return groups[static_cast<std::size_t>(endpoint - first_group())]; }
  [[nodiscard]] int nodes() const { return static_cast<int>(cores_on_bus.size()) / buses_per_node; }
  [[nodiscard]] int node_of_bus(int bus) const { return bus / buses_per_node; }
};

// Spreads cores evenly over the buses of the nodes that have CPUs. With "spread", consecutive CPU numbers change the node
// first, then the bus, the core and the thread; with "fill" they fill a core's threads, then a bus, then a node. Only CPUs and
// cores in use get numbers. Errors: std::invalid_argument with text for a user: an unknown node, cores that don't spread evenly
// over the buses, no node with memory.
MachineLayout lay_out(const MachineSpec& spec);

// The machine with this node's own memory and directory parameters from [memory.node.N].
MachineSpec as_of_node(const MachineSpec& spec, int node);

// "all" or "0 2": the numbers, ascending. Errors: std::invalid_argument, naming `key`.
std::vector<int> parse_nodes(const std::string& text, int nodes, const std::string& key);

}  // namespace linebounce
