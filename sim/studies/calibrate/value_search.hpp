// The best value of one parameter where what it does may go up and down: a line that is held for twice as long serves its owner
// once more, so a measured rate may fit several holds.
#pragma once

#include <functional>
#include <vector>

namespace linebounce::sim {

constexpr double kAsGoodShare = 0.005;  // of the measurements, RMS: nobody measures better

struct FoundValue {
  double value = 0;
  double off = 0;            // of the measurements, RMS share
  double low = 0, high = 0;  // all values in between that were tried are as good, to kAsGoodShare
};

// How far off the measurements each value is: RMS share.
using TryValues = std::function<std::vector<double>(const std::vector<double>& values)>;

// Tries `values`, which ascend, then more and more around the best of them, to so many steps a unit, until the values beside
// the best one are within a hundredth of it. Of values that are as good, the lowest.
FoundValue find_value(std::vector<double> values, int steps_per_unit, const TryValues& off);

// 0, then from `least` to `most`, each a little more than the one before: by `ratio`, to so many
// steps a unit.
std::vector<double> values_to_try(double least, double most, double ratio, int steps_per_unit);

}  // namespace linebounce::sim
