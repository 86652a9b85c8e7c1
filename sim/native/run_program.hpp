// Runs another program, and keeps what it prints.
#pragma once

#include <string>
#include <vector>

namespace linebounce::sim {

struct ProgramOutput {
  int code = 0;      // its exit code; 127: it can't be run; 128 and more: a signal
  std::string text;  // of standard output and standard error
};

// Executes the words without a shell. Errors: ConfigError if no process can be started.
ProgramOutput run_program(const std::vector<std::string>& words);

}  // namespace linebounce::sim
