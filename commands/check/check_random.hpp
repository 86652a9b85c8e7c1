// `linebounce check --random`, which runs the random tester of machines in commands/check.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/common/command.hpp"

namespace linebounce::sim {

constexpr const char* kCurrentFolder = ".";

struct RandomArguments {
  std::optional<double> references;  // a whole number; a double, because users may write 1e6
  std::string machine;
  std::uint64_t seed = 1;
  std::vector<std::string> sets;
  std::string directory = kCurrentFolder;
  int at_once = 1;
  int shrink_seconds = 60;
  bool json = false;

  // REQUIRES: `references`.
  [[nodiscard]] std::int64_t reference_count() const { return static_cast<std::int64_t>(*references); }
  // True if the command line requests random tests. Errors: UsageError if it names a protocol as well, or requests neither.
  [[nodiscard]] bool wanted(const std::string& protocol) const;
};

extern const char* const kRandomFooter;  // text about --random in the help

std::shared_ptr<RandomArguments> add_random_options(Command& command);

ExitCode check_random(const RandomArguments& arguments);

}  // namespace linebounce::sim
