// Finds the best value of one parameter whose effect may rise and fall. For example, a line that is held twice as long serves
// its owner once more, so several hold times may fit a measured rate.
#pragma once

#include <functional>
#include <vector>

namespace linebounce::sim {

// RMS deviations that differ by less are equally good, because measurements are not more precise.
constexpr double kAsGoodShare = 0.005;

struct FoundValue {
  double value = 0;
  double off = 0;            // RMS deviation as a share of the measurements
  double low = 0, high = 0;  // all tried values between these are equally good, within kAsGoodShare
};

// The RMS deviation of each value from the measurements, as a share.
using TryValues = std::function<std::vector<double>(const std::vector<double>& values)>;

// Tries the ascending `values`, then more and more values around the best ones, in steps of at least 1 / steps_per_unit,
// until the best value's neighbours are within a hundredth of it. Returns the lowest of equally good values.
FoundValue find_value(std::vector<double> values, int steps_per_unit, const TryValues& off);

// 0, and then values from `least` to `most`, each `ratio` times the previous one, rounded to 1 / steps_per_unit.
std::vector<double> values_to_try(double least, double most, double ratio, int steps_per_unit);

}  // namespace linebounce::sim
