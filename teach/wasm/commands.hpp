// The program's subcommands that work on a text alone.
#pragma once

#include <string>
#include <vector>

namespace linebounce::teach {

struct CommandResult {
  int exit = 0;
  std::string output;  // the standard output's
  std::string error;
};

// {"check", "mesi_snoop", "--json"}
CommandResult command(const std::vector<std::string>& arguments);

}  // namespace linebounce::teach
