#include "sim/lines/rank_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace linebounce::sim {
namespace {

// Returns twice the rank of each value, counted from 1. Doubling keeps the mean rank of equal values a whole number.
std::vector<std::int64_t> doubled_ranks(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  std::vector<std::int64_t> ranks;
  for (const double value : values) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back((first - sorted.begin()) + 1 + (last - sorted.begin()));
  }
  return ranks;
}

}  // namespace

// Pearson's coefficient of the ranks. Integers up to the last division make the result exact.
std::optional<double> rank_correlation(const std::vector<double>& measured, const std::vector<double>& simulated) {
  const auto n = static_cast<std::int64_t>(measured.size());
  const std::vector<std::int64_t> x = doubled_ranks(measured);
  const std::vector<std::int64_t> y = doubled_ranks(simulated);
  std::int64_t xy = 0;
  std::int64_t xx = 0;
  std::int64_t yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t dx = x[i] - (n + 1);
    const std::int64_t dy = y[i] - (n + 1);
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  }
  if (xx == 0) return std::nullopt;
  if (yy == 0) return 0;
  return static_cast<double>(xy) / std::sqrt(static_cast<double>(xx) * static_cast<double>(yy));
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace linebounce::sim
