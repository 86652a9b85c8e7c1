// What tells the cores of a machine apart, besides whom they share a bus with: how far each is from the others of its bus, and
// from the edge of the bus. Found from the matrix alone; a machine then has it in machine.bus.way_ns and its neighbours.
#pragma once

#include <utility>
#include <vector>

#include "models/machine_layout.hpp"
#include "sim/studies/calibrate/blocks.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"

namespace linebounce::sim {

// By core, as the layout numbers them. What is empty, or 0, gains nothing.
struct Positions {
  std::vector<double> way_ns;
  std::vector<double> edge_way_ns;
  std::vector<std::pair<int, int>> places;  // column and row
  double hop_ns = 0;
  int parameters = 0;  // that this takes

  [[nodiscard]] bool any() const { return !way_ns.empty() || !edge_way_ns.empty() || !places.empty(); }
  // What the two CPUs' places add to what a line costs between them.
  [[nodiscard]] double between(const CpuPlace& one, const CpuPlace& other) const;
};

struct FoundPositions {
  Positions positions;
  // RMS over half of the pairs when all means, ways and places were fitted to the other half, in ns: with the blocks' means
  // alone, and with the positions.
  double held_out_without = 0, held_out = 0;
};

// Each of ways, edges and places is taken only where it takes three percent off the squares of pairs that it was not fitted to.
// CPUs as the layout numbers them; `blocks` are the machine's.
FoundPositions find_positions(const LatencyMatrix& measured, const MachineLayout& layout, const std::vector<Block>& blocks);

// The matrix without what the positions add.
LatencyMatrix without_positions(const LatencyMatrix& matrix, const MachineLayout& layout, const Positions& positions);

}  // namespace linebounce::sim
