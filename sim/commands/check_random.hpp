// `linebounce check --random`: the command for the random tester of machines in sim/tester.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/commands/command.hpp"

namespace linebounce::sim {

struct RandomArguments {
  std::optional<double> references;  // an integer, which the user may write as 1e6
  std::string machine;
  std::uint64_t seed = 1;
  std::vector<std::string> sets;
  std::string directory = ".";
  int at_once = 1;
  int shrink_seconds = 60;
  bool json = false;

  // REQUIRES: `references`.
  [[nodiscard]] std::int64_t reference_count() const { return static_cast<std::int64_t>(*references); }
  // True if the command line asks for random tests. Errors: UsageError if it also names a protocol, or asks for neither.
  [[nodiscard]] bool wanted(const std::string& protocol) const;
};

extern const char* const kRandomFooter;  // this option's part of the help

std::shared_ptr<RandomArguments> add_random_options(Command& command);

ExitCode check_random(const RandomArguments& arguments);

}  // namespace linebounce::sim
