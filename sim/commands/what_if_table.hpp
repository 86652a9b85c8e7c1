// The table of `linebounce what-if`.
#pragma once

#include <string>
#include <vector>

#include "sim/commands/terminal.hpp"
#include "sim/commands/what_if_effect.hpp"

namespace linebounce {

// In the order given: each experiment with both changes, its title, and the lines that changed most.
std::string what_if_table(const std::vector<Effect>& effects, const Painter& paint);

}  // namespace linebounce
