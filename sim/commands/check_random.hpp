// `linebounce check --random`: the random tester of machines. sim/tester does the work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/commands/command.hpp"

namespace linebounce::sim {

struct RandomArguments {
  std::optional<double> references;  // a whole number, perhaps written as 1e6
  std::string machine;
  std::uint64_t seed = 1;
  std::vector<std::string> sets;
  std::string directory = ".";
  int at_once = 1;
  int shrink_seconds = 60;
  bool json = false;

  // REQUIRES: `references`.
  [[nodiscard]] std::int64_t reference_count() const { return static_cast<std::int64_t>(*references); }
  // Whether the command line asks for this. Errors: UsageError, if it asks for this and for a protocol, or for neither.
  [[nodiscard]] bool wanted(const std::string& protocol) const;
};

extern const char* const kRandomFooter;  // this option's part of the help

std::shared_ptr<RandomArguments> add_random_options(Command& command);

ExitCode check_random(const RandomArguments& arguments);

}  // namespace linebounce::sim
