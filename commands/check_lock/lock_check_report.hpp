// The answer of `linebounce check-lock`: the verdict, what was checked, and the interleaving that breaks a property.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "commands/check_lock/lock_check.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// `experiment`: path of the experiment whose run is the failed trial; empty if no trial failed.
std::string lock_check_text(const workloads::LockEntry& lock, const LockCheck& check, const std::string& experiment,
                            const Painter& paint);
nlohmann::ordered_json lock_check_json(const workloads::LockEntry& lock, const LockCheck& check, const std::string& experiment);

}  // namespace linebounce::sim
