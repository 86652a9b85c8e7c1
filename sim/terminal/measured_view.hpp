// Measured tables of cache lines beside the simulated ones, for the terminal.
#pragma once

#include <functional>
#include <string>

#include "sim/plan/plan.hpp"
#include "sim/plan/results_json.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// The tables that `wanted` takes (by id), each at its point; empty where there is none, or no finished point of it.
std::string measured_tables(const Plan& plan, const Results& results, const std::function<bool(const std::string&)>& wanted,
                            const Painter& paint);

}  // namespace linebounce::sim
