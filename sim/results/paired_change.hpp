// The effect of a change, computed from runs of both sides with the same seeds.
#pragma once

#include <vector>

namespace linebounce::sim {

struct PairedChange {
  double base = 0, changed = 0;  // means over the seeds
  // in percent of the base's mean: the mean difference, and half the width of its 95 % confidence interval
  double change_pct = 0, ci95_pct = 0;
  [[nodiscard]] bool significant() const;  // whether the interval excludes 0
};

// Value i of both sides has the same seed. The interval is Student's t interval of the differences, in which variation
// between seeds cancels. REQUIRES: equally many values, at least two; the base's mean is not 0.
PairedChange paired_change(const std::vector<double>& base, const std::vector<double>& changed);

}  // namespace linebounce::sim
