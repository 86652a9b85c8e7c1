// The table of `linebounce compare-locks`, and its JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/studies/compare_locks/lock_comparison.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// One machine: each lock with its trials, the fastest first.
std::string lock_comparison_table(const LockComparison& comparison, const Painter& paint);

// Schema linebounce.compare_locks/1.
nlohmann::ordered_json lock_comparison_json(const std::string& trace, const std::vector<LockComparison>& machines,
                                            const std::vector<std::string>& missing);

}  // namespace linebounce::sim
