// The table of `linebounce what-if`.
#pragma once

#include <string>
#include <vector>

#include "commands/what_if/what_if_effect.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// One entry for each experiment, in the given order: its title, both of its changes, and the lines that changed most.
std::string what_if_table(const std::vector<Effect>& effects, const Painter& paint);

}  // namespace linebounce::sim
