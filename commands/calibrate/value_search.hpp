// Finds the best value of one parameter whose effect may rise and fall. For example, while a line is held longer, its owner
// may complete one more operation, so several hold times may fit a measured rate.
#pragma once

#include <functional>
#include <vector>

namespace linebounce::sim {

// RMS deviations that differ by less are equally good, because measurements are not more precise.
constexpr double kAsGoodShare = 0.005;

struct FoundValue {
  double value = 0;
  double off = 0;            // RMS deviation as a share of the measurements
  double low = 0, high = 0;  // all tried values from `low` to `high` are equally good, within kAsGoodShare
};

// Returns the RMS deviation from the measurements for each value, as a share.
using TryValues = std::function<std::vector<double>(const std::vector<double>& values)>;

// Tries the ascending `values`, then more and more values around the best ones, in steps of at least 1 / steps_per_unit,
// until the best value's neighbours are within a hundredth of it. Of equal deviations, the lowest value wins.
FoundValue find_value(std::vector<double> values, int steps_per_unit, const TryValues& off);

// 0, then values from `least` to about `most`, each `ratio` times the previous one, rounded to multiples of 1 /
// steps_per_unit.
std::vector<double> values_to_try(double least, double most, double ratio, int steps_per_unit);

}  // namespace linebounce::sim
