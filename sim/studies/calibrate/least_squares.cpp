#include "sim/studies/calibrate/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace linebounce::sim {
namespace {

using Square = std::vector<std::vector<double>>;

// Gauss elimination with pivots on the diagonal, which is enough for normal equations; an unknown without a pivot is 0.
std::vector<double> solve(Square left, std::vector<double> right) {
  const std::size_t size = right.size();
  std::vector<bool> free(size, true);
  const auto largest = [&left, size] {
    double most = 0;
    for (std::size_t i = 0; i < size; ++i) most = std::max(most, std::fabs(left[i][i]));
    return most;
  }();
  for (std::size_t i = 0; i < size; ++i) {
    if (std::fabs(left[i][i]) <= largest * 1e-9) {
      free[i] = false;
      continue;
    }
    for (std::size_t row = i + 1; row < size; ++row) {
      const double factor = left[row][i] / left[i][i];
      for (std::size_t column = i; column < size; ++column) left[row][column] -= factor * left[i][column];
      right[row] -= factor * right[i];
    }
  }
  std::vector<double> x(size, 0);
  for (std::size_t i = size; i-- > 0;) {
    if (!free[i]) continue;
    double rest = right[i];
    for (std::size_t column = i + 1; column < size; ++column) rest -= left[i][column] * x[column];
    x[i] = rest / left[i][i];
  }
  return x;
}

}  // namespace

std::vector<double> least_squares(const std::vector<std::vector<double>>& slopes, const std::vector<double>& wanted,
                                  const std::vector<double>& weights, const std::vector<double>& least) {
  const std::size_t size = least.size();
  std::vector<bool> bound(size, false);
  std::vector<double> x;
  // An unknown below its bound is put there, and the others are solved for again; at most once for each.
  for (;;) {
    Square left(size, std::vector<double>(size, 0));
    std::vector<double> right(size, 0);
    for (std::size_t row = 0; row < wanted.size(); ++row) {
      double rest = wanted[row];
      for (std::size_t i = 0; i < size; ++i) rest -= bound[i] ? slopes[row][i] * least[i] : 0;
      for (std::size_t i = 0; i < size; ++i) {
        if (bound[i]) continue;
        right[i] += weights[row] * slopes[row][i] * rest;
        for (std::size_t j = 0; j < size; ++j) {
          if (!bound[j]) left[i][j] += weights[row] * slopes[row][i] * slopes[row][j];
        }
      }
    }
    x = solve(std::move(left), std::move(right));
    bool again = false;
    for (std::size_t i = 0; i < size; ++i) {
      again = again || (!bound[i] && x[i] < least[i]);
      bound[i] = bound[i] || x[i] < least[i];
      if (bound[i]) x[i] = least[i];
    }
    if (!again) return x;
  }
}

}  // namespace linebounce::sim
