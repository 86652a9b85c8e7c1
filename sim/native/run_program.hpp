// Runs another program and captures its output.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace linebounce::sim {

struct ProgramOutput {
  int code = 0;      // exit code; 127: the program can't be executed; 128 + n: signal n ended it
  std::string text;  // standard output and standard error

  // A shell that can't find a program ends with 127 as well, but not in silence.
  [[nodiscard]] bool could_not_run() const { return code == 127 && text.empty(); }
};

struct ProgramLimits {
  std::uintmax_t largest_file = 0;    // in bytes; 0: no limit. The system ends a program that writes a larger one
  std::function<bool()> may_go_on{};  // asked ten times a second; the program is killed at the first `false`
};

// Executes a command without a shell. Errors: ConfigError if no process can be started.
ProgramOutput run_program(const std::vector<std::string>& words, const ProgramLimits& limits = {});

}  // namespace linebounce::sim
