// Measured tables of cache lines beside simulated ones, for the terminal.
#pragma once

#include <functional>
#include <string>

#include "sim/plan/plan.hpp"
#include "sim/plan/results_json.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// Shows the tables whose ids `wanted` accepts, each beside the point that simulates it. Empty if there are none, or if their
// points have not finished.
std::string measured_tables(const Plan& plan, const Results& results, const std::function<bool(const std::string&)>& wanted,
                            const Painter& paint);

}  // namespace linebounce::sim
