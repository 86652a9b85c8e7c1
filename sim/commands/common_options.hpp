// Options that several subcommands have, once.
#pragma once

#include <cstddef>

#include "sim/commands/command.hpp"

namespace linebounce::sim {

// -j: simulations at the same time.
Option add_jobs(Command& command, int& at_once);

// Errors: ConfigError for a --point that an experiment of so many points does not have.
void require_point(int point, std::size_t points);

}  // namespace linebounce::sim
