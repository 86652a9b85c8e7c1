// The differences between a machine's cores besides their bus: how far each is from the others of its bus, and from the bus's
// edge. Found from the matrix alone; a machine has them in machine.bus.way_ns and related parameters.
#pragma once

#include <utility>
#include <vector>

#include "models/machine_layout.hpp"
#include "sim/studies/calibrate/blocks.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

// By core, as the layout numbers them. Empty or 0 if it gains nothing.
struct Positions {
  std::vector<double> way_ns;
  std::vector<double> edge_way_ns;
  std::vector<std::pair<int, int>> places;  // column and row
  double hop_ns = 0;
  int parameters = 0;  // number of parameters

  [[nodiscard]] bool any() const { return !way_ns.empty() || !edge_way_ns.empty() || !places.empty(); }
  // The latency that the two CPUs' places add to a line between them.
  [[nodiscard]] double between(const CpuPlace& one, const CpuPlace& other) const;
};

struct FoundPositions {
  Positions positions;
  // RMS in ns over half of the pairs when means, ways and places were fitted to the other half: with the blocks' means alone,
  // and with positions.
  double held_out_without = 0, held_out = 0;
};

// Uses each of ways, edges and places only if it removes three percent of the squares of held-out pairs. CPUs are numbered as
// in the layout; `blocks` are the machine's.
FoundPositions find_positions(const LatencyMatrix& measured, const MachineLayout& layout, const std::vector<Block>& blocks);

// The matrix minus the effect of the positions.
LatencyMatrix without_positions(const LatencyMatrix& matrix, const MachineLayout& layout, const Positions& positions);

}  // namespace linebounce::sim
