#include "sim/commands/common_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sim/point/config_error.hpp"

namespace linebounce::sim {

CLI::Option* add_jobs(CLI::App& command, int& at_once) {
  return command.add_option("-j,--jobs", at_once, "Simulations at the same time; default: one for each core")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
}

CLI::Validator between(double least, double most) {
  const auto refuse = [least, most](const std::string& text) {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(text, value);
    return number && value >= least && value <= most ? "" : fmt::format("{} is not a number from {} to {}", text, least, most);
  };
  return CLI::Validator(refuse, "");
}

void require_point(int point, std::size_t points) {
  if (point >= 0 && static_cast<std::size_t>(point) < points) return;
  throw ConfigError(
      fmt::format("--point {}: this experiment has {} point{}, counted from 0", point, points, points == 1 ? "" : "s"));
}

}  // namespace linebounce::sim
