// The answer of `linebounce check-lock --weaken`: a table with a row for each memory order that the lock's source names, and
// a column for each memory model and machine.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "commands/check_lock/weaken.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

std::string weakening_text(const OrderedLock& lock, const Weakening& found, const Painter& paint);
nlohmann::ordered_json weakening_json(const OrderedLock& lock, const Weakening& found);

}  // namespace linebounce::sim
