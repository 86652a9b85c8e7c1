// Finds from a measured matrix which CPUs are near each other: which share a core, a bus or a node, and how nodes are linked.
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
  // If groups differ in size, these are the sizes of the largest.
  int threads_per_core = 1;
  int cores_per_bus = 1;
  int buses_per_node = 1;
  int nodes = 1;
  int home = -1;  // home node of the measured line, if it does not depend on the pair; -1: unknown
  Topology topology = Topology::fully_connected;
  std::vector<std::pair<int, int>> links;  // for topology `links`: nodes with a link, the lower number first
  std::vector<Seat> seats;                 // by CPU of the matrix
  // By CPU of the matrix: its number in `fill` order, in a machine whose groups all have the maximal size.
  std::vector<int> hardware_threads;
  std::vector<std::string> notes;  // sentences about observations that a machine can't express

  // True if a machine whose groups all have the maximal size has free seats.
  [[nodiscard]] bool uneven() const {
    return static_cast<int>(seats.size()) != nodes * buses_per_node * cores_per_bus * threads_per_core;
  }
};

// Which CPUs of the matrix share a core, a bus (the largest cache that cores share) and a node, as far as that is known. Each
// group is sorted; groups are ordered by their first CPU.
struct CpuGroups {
  std::vector<std::vector<int>> nodes, buses, cores;
};

// The structure for known groups. How nodes are linked comes from the matrix.
Structure structure_of(const LatencyMatrix& matrix, const CpuGroups& groups);

// Clusters the CPUs by the median distance between groups, and keeps the levels where groups are clearly apart: the nearest
// CPUs of two groups are a fifth farther apart than CPUs of one group. The finest level is a core's threads, if they are as
// near as only threads can be (some cores may then have just one). Next come buses; the coarsest level is nodes. Nodes are
// numbered by their lowest CPU, or around the ring if they form one.
//
// There may be two sockets that look different: half of the CPUs are in groups near each other, and all other groups are as
// far from each other as from those. The first socket then has the line's home, and the groups of the other communicate
// through that home.
Structure find_structure(const LatencyMatrix& matrix);

}  // namespace linebounce::sim
