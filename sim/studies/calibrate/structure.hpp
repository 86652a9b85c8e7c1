// Which CPUs of a measured matrix are near each other: what shares a core, a bus, a node, and how nodes are joined.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

// Where a CPU of the matrix sits. All are numbers of the whole machine but `thread`.
struct Seat {
  int node = 0, bus = 0, core = 0, thread = 0;
  friend bool operator==(const Seat&, const Seat&) = default;
};

struct Structure {
  // The most of each, where groups differ.
  int threads_per_core = 1;
  int cores_per_bus = 1;
  int buses_per_node = 1;
  int nodes = 1;
  int home = -1;  // the node of the measured line, where that is no matter of the two CPUs; -1: it does not show
  Topology topology = Topology::fully_connected;
  std::vector<std::pair<int, int>> links;  // topology `links` only: nodes with one, the lower number first
  std::vector<Seat> seats;                 // by CPU of the matrix
  std::vector<int> hardware_threads;       // likewise: its number as `fill` numbers all that fit into groups of the most
  std::vector<std::string> notes;          // what was seen and has no place in a machine, in sentences

  // Not every seat of a machine with groups of the most is taken.
  [[nodiscard]] bool uneven() const {
    return static_cast<int>(seats.size()) != nodes * buses_per_node * cores_per_bus * threads_per_core;
  }
};

// Clusters the CPUs by the median distance of groups and keeps a cut of the tree where it is clear: the nearest CPUs of any two
// groups are a fifth farther from each other than CPUs in a group. The finest such level is the threads of a core if its pairs
// are as near as only threads are (then some cores may have one thread alone), then come buses, the coarsest is nodes. Nodes
// are numbered by their lowest CPU, or round the ring if they are on one.
//
// Half of the CPUs with groups near each other, and all other groups as far from each other as from those: that is one socket
// with the line at home, and one whose groups reach each other over that home.
Structure find_structure(const LatencyMatrix& matrix);

}  // namespace linebounce::sim
