// Runs a program as a child process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace linebounce::sim {

// The folder of this program; linebounce-cc and linebounce-record are there, too.
std::filesystem::path program_directory();

struct EndedProcess {
  int code = 0;             // its exit code, or 128 plus the signal that ended it
  double processor_us = 0;  // its processor time, with that of its children
};

// Executes a command in a folder, without a shell. Its output goes to the file `log`. Errors: ConfigError, which begins with
// `option`.
EndedProcess run_in(const std::filesystem::path& directory, const std::vector<std::string>& command,
                    const std::filesystem::path& log, const char* option);

// Shows the commands that would run and asks on the terminal for permission, because anyone may have written the trace that
// names one. Errors: ConfigError, with `of_trace`, if the user refuses or there is no terminal.
void confirm_running(const char* option, const std::string& shown, const std::string& of_trace);

}  // namespace linebounce::sim
