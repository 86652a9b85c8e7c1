// Applies a change to a copy of the sources, builds it, and records the program again with the original command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/advise/source_edit.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

struct Recheck {
  std::filesystem::path directory;  // folder for source/ (the copy), build.log, run.log and again.lbt
  std::filesystem::path results;    // the results folder, which must not be copied
  std::string build;  // a shell command that builds the copy; CC and CXX are set to linebounce-cc and linebounce-c++
};

// Checks before any replay that a recheck is possible. Errors: ConfigError if linebounce-record did not write the trace, if
// its command does not name a program by a path within the folder, or if the current folder has none of the program's
// sources.
void require_recheckable(const trace::Reader& trace);

// Shows the commands that would run and asks on the terminal for permission, because anyone may have written the trace. Errors:
// ConfigError, with the commands, if the user refuses or there is no terminal.
void confirm_recheck(const std::string& build, const trace::Reader& trace);

// Records the program again after `edited` was applied to a copy, with the command line and window of `before`. Returns the new
// trace. Copies the current folder without traces; in a git work tree, also without ignored files. Errors: ConfigError if an
// edited file was not copied, if copying, building or recording fails (it names the log), or if the program that ran was not
// built in the copy.
std::filesystem::path recorded_again(const Recheck& recheck, const trace::Reader& before,
                                     const std::vector<EditedSource>& edited);

}  // namespace linebounce::sim
