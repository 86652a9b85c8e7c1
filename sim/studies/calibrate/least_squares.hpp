// Small linear least-squares problems with bounds, and which unknowns they can tell apart.
#pragma once

#include <cstddef>
#include <vector>

namespace linebounce::sim {

// slopes[row][i]: by how much row rises with a unit of unknown i.
using Slopes = std::vector<std::vector<double>>;

// An unknown that the rows can't tell from others before it: it does what these do together, `parts[j]` of a unit each.
struct Dependence {
  std::size_t unknown = 0;
  std::vector<std::size_t> on;
  std::vector<double> parts;
};

struct Separation {
  std::vector<std::size_t> apart;      // what the rows determine, each in the order of the unknowns
  std::vector<Dependence> dependent;   // what they don't, and on what it depends
  std::vector<std::size_t> powerless;  // what moves no row
};

// Takes the unknowns in their order, so that of those that do the same the first is taken. Slopes are measured with whole
// clocks: an unknown counts as apart if at least a tenth of what it does can't be done by those before it.
Separation separate(const Slopes& slopes, const std::vector<double>& weights);

// The x with x[i] >= least[i] that makes the weighted sum of squares of (slopes * x - wanted) least. Of unknowns that do the
// same only the first moves, and the next one once that is at its bound. What moves no row stays 0, or at its bound.
std::vector<double> least_squares(const Slopes& slopes, const std::vector<double>& wanted, const std::vector<double>& weights,
                                  const std::vector<double>& least);

}  // namespace linebounce::sim
