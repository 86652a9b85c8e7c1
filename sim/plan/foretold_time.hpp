// Predicts how long a run takes before it begins, by simulating the beginnings of some of its points.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/plan/point_files.hpp"
#include "sim/plan/process_pool.hpp"

namespace linebounce::sim {

// Shorter runs are not foretold, in seconds.
inline constexpr double kWorthForetelling = 20;

// One simulation of a run that has not begun.
struct ComingJob {
  const Plan* plan = nullptr;
  int point = 0;
};

// The wall time of these jobs in seconds, `at_once` at a time, on a computer as busy as it is now. None if it is shorter than
// kWorthForetelling, or if the points don't say how far they are: programs that run to their end have no known length. Takes
// little time itself: that of two short beginnings if the run is short.
std::optional<double> foretold_seconds(const std::vector<ComingJob>& jobs, const Simulation& simulation, int at_once,
                                       InterruptGuard& guard);

}  // namespace linebounce::sim
