#include "sim/commands/common_options.hpp"

#include <fmt/format.h>

#include "sim/point/config_error.hpp"

namespace linebounce::sim {

Overrides overrides_of(const OverrideArguments& arguments) {
  Overrides overrides;
  if (!arguments.machine.empty()) overrides.machine = arguments.machine;
  overrides.seed = arguments.seed;
  overrides.sets = split_sets(arguments.sets);
  return overrides;
}

Option add_jobs(Command& command, int& at_once) {
  return command.option("-j,--jobs", "N", &at_once, "Simulations at the same time; default: one for each core")
      .between(1, 4096);
}

void require_point(int point, std::size_t points) {
  if (point >= 0 && static_cast<std::size_t>(point) < points) return;
  throw ConfigError(
      fmt::format("--point {}: this experiment has {} point{}, counted from 0", point, points, points == 1 ? "" : "s"));
}

}  // namespace linebounce::sim
