// The table of `linebounce compare-locks`, and its JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "commands/compare_locks/lock_comparison.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// The trials on one machine: for each lock, its replacements, the fastest first.
std::string lock_comparison_table(const LockComparison& comparison, const Painter& paint);

// Words that behave like locks; empty if there are none. `replaced`: true if they were replayed as locks.
std::string word_locks_table(const std::vector<trace::WordLock>& words, bool replaced, const Painter& paint);

nlohmann::ordered_json word_locks_json(const std::vector<trace::WordLock>& words);

// Schema linebounce.compare_locks/1.
nlohmann::ordered_json lock_comparison_json(const std::string& trace, const std::vector<LockComparison>& machines,
                                            const std::vector<trace::WordLock>& words, bool replaced,
                                            const std::vector<std::string>& missing);

}  // namespace linebounce::sim
