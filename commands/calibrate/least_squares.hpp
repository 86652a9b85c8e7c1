// Solves small linear least-squares problems with bounds, and finds which unknowns the data can separate.
#pragma once

#include <cstddef>
#include <vector>

namespace linebounce::sim {

// slopes[row][i]: how much the row rises when unknown i rises by 1.
using Slopes = std::vector<std::vector<double>>;

// An unknown that the rows can't separate from earlier ones. A unit of it has the same effect as `parts[j]` units of each
// unknown `on[j]`.
struct Dependence {
  std::size_t unknown = 0;
  std::vector<std::size_t> on;
  std::vector<double> parts;
};

struct Separation {
  std::vector<std::size_t> apart;      // unknowns that the rows determine, in the given order
  std::vector<Dependence> dependent;   // unknowns that the rows don't determine, each with the ones it depends on
  std::vector<std::size_t> powerless;  // unknowns that affect no row
};

// Takes the unknowns in order, so that the first of several with the same effect is kept. An unknown counts as separate only
// if earlier ones leave at least a tenth of its effect unexplained, because slopes are inexact: they are measured in whole
// clocks.
Separation separate(const Slopes& slopes, const std::vector<double>& weights);

// Minimises the weighted sum of squares of (slopes * x - wanted), with x[i] >= least[i]. If several unknowns have the same
// effect, only the first moves, and the next one when that is at its bound. An unknown that affects no row stays at 0, or at
// its bound.
std::vector<double> least_squares(const Slopes& slopes, const std::vector<double>& wanted, const std::vector<double>& weights,
                                  const std::vector<double>& least);

}  // namespace linebounce::sim
