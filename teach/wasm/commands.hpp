// The program's subcommands that work on a single text.
#pragma once

#include <string>
#include <vector>

namespace linebounce::teach {

struct CommandResult {
  int exit = 0;
  std::string output;  // from the standard output
  std::string error;
};

// `arguments`: such as {"check", "mesi_snoop", "--json"}
CommandResult command(const std::vector<std::string>& arguments);

}  // namespace linebounce::teach
