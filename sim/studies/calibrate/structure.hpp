// Finds which CPUs of a measured matrix are near each other: which share a core, a bus, a node, and how nodes are joined.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

// The position of a CPU of the matrix. All numbers count over the whole machine, except `thread`.
struct Seat {
  int node = 0, bus = 0, core = 0, thread = 0;
  friend bool operator==(const Seat&, const Seat&) = default;
};

struct Structure {
  // The maximum of each, if groups differ.
  int threads_per_core = 1;
  int cores_per_bus = 1;
  int buses_per_node = 1;
  int nodes = 1;
  int home = -1;  // the measured line's home node, if it is independent of the two CPUs; -1: unknown
  Topology topology = Topology::fully_connected;
  std::vector<std::pair<int, int>> links;  // for topology `links`: nodes with a link, the lower number first
  std::vector<Seat> seats;                 // by CPU of the matrix
  // by CPU of the matrix: its number in `fill` order, in a machine with groups of maximal size
  std::vector<int> hardware_threads;
  std::vector<std::string> notes;  // observations that a machine can't express, as sentences

  // Whether a machine with groups of maximal size has free seats.
  [[nodiscard]] bool uneven() const {
    return static_cast<int>(seats.size()) != nodes * buses_per_node * cores_per_bus * threads_per_core;
  }
};

// What shares a core, a bus (the largest cache that cores share) and a node, where that is known: CPUs of the matrix, each
// group sorted, the groups by their first CPU.
struct CpuGroups {
  std::vector<std::vector<int>> nodes, buses, cores;
};

// The structure of known groups; the matrix shows how nodes are joined.
Structure structure_of(const LatencyMatrix& matrix, const CpuGroups& groups);

// Clusters the CPUs by the median distance of groups and keeps clear cuts of the tree: the nearest CPUs of any two groups are a
// fifth farther apart than CPUs in a group. The finest level is the threads of a core if its pairs are as near as only threads
// are (some cores may then have only one thread); then come buses; the coarsest is nodes. Nodes are numbered by their lowest
// CPU, or round the ring if they form one.
//
// If half of the CPUs are in groups near each other, and all other groups are as far from each other as from those, there are
// two sockets: one with the line's home, and one whose groups communicate through that home.
Structure find_structure(const LatencyMatrix& matrix);

}  // namespace linebounce::sim
