// Finds from the matrix how a machine's cores differ in position: how far each is from the others on its bus, and from the
// bus's edge. In a machine these are machine.bus.way_ns and related parameters.
#pragma once

#include <utility>
#include <vector>

#include "commands/calibrate/blocks.hpp"
#include "commands/calibrate/latency_matrix.hpp"
#include "models/machine_layout.hpp"

namespace linebounce::sim {

// Positions by core, numbered as in the layout. Empty or 0 where positions gain nothing.
struct Positions {
  std::vector<double> way_ns;
  std::vector<double> edge_way_ns;
  std::vector<std::pair<int, int>> places;  // column and row
  double hop_ns = 0;
  int parameters = 0;  // number of parameters

  [[nodiscard]] bool any() const { return !way_ns.empty() || !edge_way_ns.empty() || !places.empty(); }
  // What the positions of two CPUs add to the latency of a line between them, in ns.
  [[nodiscard]] double between(const CpuPlace& one, const CpuPlace& other) const;
};

struct FoundPositions {
  Positions positions;
  // RMS deviation in ns over half of the pairs after a fit to the other half: with the blocks' means alone, and with
  // positions.
  double held_out_without = 0, held_out = 0;
};

// Finds ways, edges and places on a mesh. Uses each of these only if it removes at least three percent of the held-out pairs'
// sum of squares. CPUs are numbered as in the layout; `blocks` are the machine's.
FoundPositions find_positions(const LatencyMatrix& measured, const MachineLayout& layout, const std::vector<Block>& blocks);

// The matrix minus the effect of the positions.
LatencyMatrix without_positions(const LatencyMatrix& matrix, const MachineLayout& layout, const Positions& positions);

}  // namespace linebounce::sim
