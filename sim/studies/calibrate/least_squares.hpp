// Small linear least-squares problems with bounds, and which unknowns they can separate.
#pragma once

#include <cstddef>
#include <vector>

namespace linebounce::sim {

// slopes[row][i]: how much the row rises with a unit of unknown i.
using Slopes = std::vector<std::vector<double>>;

// An unknown that the rows can't separate from earlier ones: its effect is that of these together, `parts[j]` of a unit each.
struct Dependence {
  std::size_t unknown = 0;
  std::vector<std::size_t> on;
  std::vector<double> parts;
};

struct Separation {
  std::vector<std::size_t> apart;      // unknowns that the rows determine, in their order
  std::vector<Dependence> dependent;   // unknowns that they don't determine, and what these depend on
  std::vector<std::size_t> powerless;  // unknowns that move no row
};

// Takes the unknowns in order, so that the first of those with the same effect is taken. Slopes are measured with whole clocks,
// so an unknown counts as separate if at least a tenth of its effect can't be produced by earlier ones.
Separation separate(const Slopes& slopes, const std::vector<double>& weights);

// The x with x[i] >= least[i] that minimises the weighted sum of squares of (slopes * x - wanted). Of unknowns with the same
// effect only the first moves, and the next one once that is at its bound. An unknown that moves no row stays 0, or at its
// bound.
std::vector<double> least_squares(const Slopes& slopes, const std::vector<double>& wanted, const std::vector<double>& weights,
                                  const std::vector<double>& least);

}  // namespace linebounce::sim
