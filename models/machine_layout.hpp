// Where the CPUs and the memory of a machine are: a pure function of its specification.
#pragma once

#include <vector>

#include "models/machine_spec.hpp"

namespace linebounce {

struct CpuPlace {
  int node = 0;
  int bus = 0;     // of the whole machine: node * buses_per_node + the bus in the node
  int core = 0;    // of the whole machine, counted bus by bus
  int thread = 0;  // of the core
};

struct MachineLayout {
  std::vector<CpuPlace> cpus;          // by CPU number, those in use
  std::vector<int> cores_on_bus;       // by bus: cores with a CPU in use
  std::vector<int> seat_of_core;       // by core in use: its number among all that the machine has, as `fill` numbers them
  int cores_present = 0;               // that the machine has
  std::vector<int> nodes_with_memory;  // ascending
  int buses_per_node = 1;

  // Endpoints of the network are the controllers of buses, by bus, the directories, by node, and then the groups.
  // Whom an endpoint asks, and its number there: among a group's members, or among the homes' agents.
  struct Place {
    int parent = -1;  // a group's endpoint; -1: the homes' directories
    int number = 0;
  };
  struct Group : Place {
    int level = 0;  // of MachineSpec::groups
    int node = 0;
    std::vector<int> members = {};  // endpoints
  };
  std::vector<Place> place_of_bus;
  std::vector<Group> groups;  // the levels nearest to the cores first
  std::vector<int> agents;    // of the homes: endpoints

  [[nodiscard]] int first_group() const { return static_cast<int>(cores_on_bus.size()) + nodes(); }
  [[nodiscard]] const Group& group_at(int endpoint) const { return groups[static_cast<std::size_t>(endpoint - first_group())]; }
  [[nodiscard]] int nodes() const { return static_cast<int>(cores_on_bus.size()) / buses_per_node; }
  [[nodiscard]] int node_of_bus(int bus) const { return bus / buses_per_node; }
};

// Cores are spread evenly over the buses of the nodes that have CPUs. CPU numbers go over nodes, buses, cores, threads in this
// order of speed ("spread"), or fill a core's threads, then a bus, then a node. Only what is in use gets a number.
// Errors: std::invalid_argument with text for a user: a node number that does not exist, cores that the buses cannot share
// evenly, no node with memory.
MachineLayout lay_out(const MachineSpec& spec);

// The machine as this node's home sees it: with what [memory.node.N] says of its memory and its directory.
MachineSpec as_of_node(const MachineSpec& spec, int node);

// "all" or "0 2": the numbers, ascending. Errors: std::invalid_argument, naming `key`.
std::vector<int> parse_nodes(const std::string& text, int nodes, const std::string& key);

}  // namespace linebounce
