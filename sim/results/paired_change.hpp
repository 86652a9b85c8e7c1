// What a change has changed, from runs of both sides with the same seeds.
#pragma once

#include <vector>

namespace linebounce::sim {

struct PairedChange {
  double base = 0, changed = 0;            // means over the seeds
  double change_pct = 0, ci95_pct = 0;     // of the base's mean: the mean difference, and half the width of its 95 % interval
  [[nodiscard]] bool significant() const;  // the interval doesn't hold 0
};

// Value i of both sides is of one seed. The interval is Student's, of the differences: what the seeds themselves differ by
// falls out. REQUIRES: as many of one as of the other, two at least; the base's mean is not 0.
PairedChange paired_change(const std::vector<double>& base, const std::vector<double>& changed);

}  // namespace linebounce::sim
