// Options that several subcommands have, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/commands/command.hpp"
#include "sim/config/experiment.hpp"

namespace linebounce::sim {

// What --machine, --set and --seed say.
struct OverrideArguments {
  std::string machine = {};
  std::vector<std::string> sets = {};
  std::optional<std::int64_t> seed = {};
};
Overrides overrides_of(const OverrideArguments& arguments);

// -j: simulations at the same time.
Option add_jobs(Command& command, int& at_once);

// Errors: ConfigError for a --point that an experiment of so many points does not have.
void require_point(int point, std::size_t points);

}  // namespace linebounce::sim
