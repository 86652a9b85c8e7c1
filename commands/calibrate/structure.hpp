// Finds from a measured matrix which CPUs are near each other: which share a core, a bus or a node, and how nodes are linked.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/calibrate/latency_matrix.hpp"
#include "models/machine_spec.hpp"

namespace linebounce::sim {

// Where a CPU of the matrix is. All numbers count over the whole machine, except `thread`.
struct Seat {
  int node = 0, bus = 0, core = 0, thread = 0;
  friend bool operator==(const Seat&, const Seat&) = default;
};

struct Structure {
  // The sizes of the largest groups, if groups differ in size.
  int threads_per_core = 1;
  int cores_per_bus = 1;
  int buses_per_node = 1;
  int nodes = 1;
  int home = -1;  // home node of the measured lines, if it does not depend on the pair; -1: unknown
  Topology topology = Topology::fully_connected;
  std::vector<std::pair<int, int>> links;  // for topology `links`: the linked nodes, the lower number first
  std::vector<Seat> seats;                 // by CPU of the matrix
  // By CPU of the matrix: the number that cpu_order `fill` gives its seat, in a machine whose groups all have the maximal
  // size.
  std::vector<int> hardware_threads;
  std::vector<std::string> notes;  // sentences on observations that a machine can't express

  // True if some seats would be free in a machine whose groups all have the maximal size.
  [[nodiscard]] bool uneven() const {
    return static_cast<int>(seats.size()) != nodes * buses_per_node * cores_per_bus * threads_per_core;
  }
};

// The CPUs of the matrix that share a core, a bus (the largest cache that cores share) and a node. Empty where this is
// unknown. Each group is sorted; groups are sorted by their first CPU.
struct CpuGroups {
  std::vector<std::vector<int>> nodes, buses, cores;
};

// The structure for known groups. How nodes are linked comes from the matrix.
Structure structure_of(const LatencyMatrix& matrix, const CpuGroups& groups);

// Clusters the CPUs by the median distance between groups. Keeps the levels where groups are clearly apart: the nearest CPUs
// of two groups are at least a fifth farther apart than CPUs of one group. The finest level is the threads of cores if they
// are near enough; some cores may then have just one. Next come buses. The coarsest level is nodes, numbered by their lowest
// CPUs, or around the ring if they form one.
//
// Two sockets may look different: half of the CPUs form one group, and the other half several groups that are as far from
// each other as from the first. Then the first socket is the line's home, through which the other's groups communicate.
Structure find_structure(const LatencyMatrix& matrix);

}  // namespace linebounce::sim
