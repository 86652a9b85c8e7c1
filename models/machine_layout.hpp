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

  [[nodiscard]] int nodes() const { return static_cast<int>(cores_on_bus.size()) / buses_per_node; }
  [[nodiscard]] int node_of_bus(int bus) const { return bus / buses_per_node; }
};

// Cores are spread evenly over the buses of the nodes that have CPUs. CPU numbers go over nodes, buses, cores, threads in this
// order of speed ("spread"), or fill a core's threads, then a bus, then a node. Only what is in use gets a number.
// Errors: std::invalid_argument with text for a user: a node number that does not exist, cores that the buses cannot share
// evenly, no node with memory.
MachineLayout lay_out(const MachineSpec& spec);

// "all" or "0 2": the numbers, ascending. Errors: std::invalid_argument, naming `key`.
std::vector<int> parse_nodes(const std::string& text, int nodes, const std::string& key);

}  // namespace linebounce
