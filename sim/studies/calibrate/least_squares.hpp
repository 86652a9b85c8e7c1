// Small linear least-squares problems with bounds.
#pragma once

#include <vector>

namespace linebounce::sim {

// The x with x[i] >= least[i] that makes the weighted sum of squares of (slopes * x - wanted) least. slopes[row][i]. An unknown
// that nothing depends on stays 0, or at its bound.
std::vector<double> least_squares(const std::vector<std::vector<double>>& slopes, const std::vector<double>& wanted,
                                  const std::vector<double>& weights, const std::vector<double>& least);

}  // namespace linebounce::sim
