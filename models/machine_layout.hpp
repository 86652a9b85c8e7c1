// Where a machine's CPUs and memory are: a pure function of its specification.
#pragma once

#include <vector>

#include "models/machine_spec.hpp"

namespace linebounce {

struct CpuPlace {
  int node = 0;
  int bus = 0;      // number in the machine: node * buses_per_node + the number in the node
  int core = 0;     // number in the machine, counted bus by bus
  int thread = 0;   // number in the core
  int os_node = 0;  // the operating system's node (models/os_nodes.hpp)
  int cache = 0;    // number in the machine of its last-level cache: the outermost one whose size the machine's file states
};

struct MachineLayout {
  std::vector<CpuPlace> cpus;          // the CPUs in use, indexed by number
  std::vector<int> cores_on_bus;       // the number of cores with a CPU in use, indexed by bus
  std::vector<int> seat_of_core;       // indexed by core in use: its number among all cores, as cpu_order `fill` numbers them
  int cores_present = 0;               // the number of cores, in use or not
  std::vector<int> nodes_with_memory;  // node numbers, ascending
  int buses_per_node = 1;

  // Where the operating system takes memory from, for each of its nodes: nodes of the interconnect, ascending, never none. One
  // without memory takes it from the next node that has some.
  std::vector<std::vector<int>> memory_of_os_node;
  std::vector<int> os_node_of_node;       // by node of the interconnect: the first of the operating system's nodes in it
  std::vector<int> os_nodes_with_memory;  // numbers, ascending

  // An endpoint's place in the tree of controllers. The endpoint sends requests to its parent: a group or, at the top of the
  // tree, the directory of the line's home. `number` is its number among the group's members or the directories' agents. The
  // network's endpoints are numbered in this order: node controllers by bus, directories by node, groups.
  struct Place {
    int parent = -1;  // the parent group's endpoint; -1: the directory of each line's home
    int number = 0;
  };
  struct Group : Place {
    int level = 0;  // index into MachineSpec::groups
    int node = 0;
    std::vector<int> members = {};  // the members' endpoints
  };
  std::vector<Place> place_of_bus;
  std::vector<Group> groups;  // sorted by level, the level nearest to the cores first
  std::vector<int> agents;    // the endpoints that no group contains, which the directories serve directly

  [[nodiscard]] int first_group() const { return static_cast<int>(cores_on_bus.size()) + nodes(); }
  [[nodiscard]] const Group& group_at(int endpoint) const { return groups[endpoint - first_group()]; }
  [[nodiscard]] int nodes() const { return static_cast<int>(cores_on_bus.size()) / buses_per_node; }
  [[nodiscard]] int os_nodes() const { return static_cast<int>(memory_of_os_node.size()); }
  [[nodiscard]] int node_of_bus(int bus) const { return bus / buses_per_node; }
};

// Distributes the cores evenly over the buses of the nodes that have CPUs, and numbers the CPUs and cores in use. With
// cpu_order "spread", consecutive CPU numbers change the node first, then the bus, the core and the thread. With "fill", they
// fill a core's threads, then a bus, then a node. Errors: std::invalid_argument, with a text for the user, if a node is
// unknown, if the cores can't be distributed evenly, if no node has memory, or if os_nodes doesn't fit the nodes and buses.
MachineLayout lay_out(const MachineSpec& spec);

// Returns the machine's specification with the memory and directory parameters that [memory.node.N] sets for this node.
MachineSpec as_of_node(const MachineSpec& spec, int node);

// Parses "all", or node numbers like "0 2"; returns the numbers, ascending. Errors: std::invalid_argument, naming `key`.
std::vector<int> parse_nodes(const std::string& text, int nodes, const std::string& key);

}  // namespace linebounce
