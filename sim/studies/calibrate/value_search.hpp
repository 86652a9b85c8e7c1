// Finds the best value of one parameter whose effect may rise and fall: a line that is held twice as long serves its owner once
// more, so a measured rate may fit several holds.
#pragma once

#include <functional>
#include <vector>

namespace linebounce::sim {

constexpr double kAsGoodShare = 0.005;  // RMS deviation from the measurements: no measurement is better

struct FoundValue {
  double value = 0;
  double off = 0;            // RMS deviation, as a share
  double low = 0, high = 0;  // all tried values in between are equally good, to kAsGoodShare
};

// The RMS deviation of each value from the measurements, as a share.
using TryValues = std::function<std::vector<double>(const std::vector<double>& values)>;

// Tries `values`, which ascend, then more and more around the best ones, in steps of at least 1 / steps_per_unit, until the
// neighbours of the best are within a hundredth of it. Of equally good values, returns the lowest.
FoundValue find_value(std::vector<double> values, int steps_per_unit, const TryValues& off);

// 0, then from `least` to `most`, each larger by `ratio`, rounded to 1 / steps_per_unit.
std::vector<double> values_to_try(double least, double most, double ratio, int steps_per_unit);

}  // namespace linebounce::sim
