// The effect of a change, from runs of both sides with equal seeds.
#pragma once

#include <vector>

namespace linebounce::sim {

struct PairedChange {
  double base = 0, changed = 0;  // means over the seeds
  // Mean difference, and half the width of its 95 % confidence interval, in percent of the base's mean.
  double change_pct = 0, ci95_pct = 0;
  [[nodiscard]] bool significant() const;  // whether the interval excludes 0
};

// REQUIRES: base[i] and changed[i] have the same seed; both have the same length, at least two; the base's mean is not 0.
// Computes Student's t interval of the differences, in which variation between seeds cancels.
PairedChange paired_change(const std::vector<double>& base, const std::vector<double>& changed);

}  // namespace linebounce::sim
