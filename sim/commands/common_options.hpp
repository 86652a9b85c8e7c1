// Options that several subcommands have, once.
#pragma once

#include <CLI/App.hpp>
#include <cstddef>

namespace linebounce::sim {

// -j: simulations at the same time.
CLI::Option* add_jobs(CLI::App& command, int& at_once);

// Of real numbers: CLI::Range lets a NaN through.
CLI::Validator between(double least, double most);

// Errors: ConfigError for a --point that an experiment of so many points does not have.
void require_point(int point, std::size_t points);

}  // namespace linebounce::sim
