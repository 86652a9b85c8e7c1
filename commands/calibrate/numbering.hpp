// Tells whether a matrix and a description of the machine number the CPUs alike.
#pragma once

#include <string>

#include "commands/calibrate/latency_matrix.hpp"
#include "forms/machine_topology.hpp"

namespace linebounce::sim {

// How well a topology explains a matrix if the matrix's CPUs have a certain order.
struct NumberingFit {
  std::string order;  // as the rest of "the matrix's CPUs are "
  double spread = 0;  // RMS deviation of latencies from the mean of their kind of pair, divided by the mean of all
};

// Pairs of CPUs are of one kind if they share the same (core, cache) and have the same two nodes. `given`: CPUs as the topology
// numbers them; `best`: of the orders that tools and firmware use, the one that explains the matrix best.
struct NumberingFits {
  NumberingFit given, best;

  // True if the matrix and the topology contradict each other, and do not under the best order.
  [[nodiscard]] bool differ() const;
};

// REQUIRES: as many CPUs in both.
NumberingFits compare_numberings(const LatencyMatrix& matrix, const MachineTopology& topology);

}  // namespace linebounce::sim
