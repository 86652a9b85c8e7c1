// What a sweep over locks and CPUs is run for, as a sentence: which lock does most.
#pragma once

#include <string>
#include <vector>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

// "At 32 CPUs mcs does most: 2100000 ±45000 operations/s, 18 % more than ticket, the next." Where intervals overlap: which
// locks can't be told apart. Empty for other sweeps, for fewer than two locks, and as long as a lock's largest number of CPUs
// has no result.
std::string lock_answer(const std::vector<ReportedPoint>& points);

}  // namespace linebounce::sim
