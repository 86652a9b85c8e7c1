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
  int threads_per_core = 1;
  int buses_per_node = 1;
  int nodes = 1;
  Topology topology = Topology::fully_connected;
  std::vector<std::pair<int, int>> links;  // topology `links` only: nodes with one, the lower number first
  std::vector<Seat> seats;                 // by CPU of the matrix
  std::vector<std::string> notes;          // what was seen and has no place in a machine, in sentences
};

// Clusters the CPUs by the median distance of groups and keeps a cut of the tree where it is clear: all groups have one size,
// and the nearest CPUs of any two groups are a fifth farther from each other than CPUs in a group. The finest such level is the
// threads of a core if its pairs are as near as only threads are, then come buses, the coarsest is nodes. Nodes are numbered by
// their lowest CPU, or round the ring if they are on one.
Structure find_structure(const LatencyMatrix& matrix);

}  // namespace linebounce::sim
