// Applies a change to a copy of the sources, builds it, and records the program again with the original command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/studies/advice/source_edit.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

struct Recheck {
  std::filesystem::path directory;  // where source/ (the copy), build.log, run.log and again.lbt go
  std::filesystem::path results;    // the folder of results, which is not copied
  std::string build;                // a shell command that builds the copy; CC and CXX are linebounce-cc and linebounce-c++
};

// Checks before any replay that a recheck is possible. Errors: ConfigError if linebounce-record did not write the trace, if
// its command does not name a program by a path within the folder, or if the current folder has none of the program's
// sources.
void require_recheckable(const trace::Reader& trace);

// Shows the command lines that would run, and asks on the terminal for permission, because they come from a trace, which
// anyone may have written. Errors: ConfigError, with the command line, if the user refuses or there is no terminal.
void confirm_recheck(const std::string& build, const trace::Reader& trace);

// Returns a new trace, recorded with the command line and recording window of `before`. Copies the current folder without
// traces; in a git work tree also without ignored files. The edited files must be among those copied. Errors: ConfigError if
// copying, building or recording fails (it names the log), or if the program that ran was not built in the copy.
std::filesystem::path recorded_again(const Recheck& recheck, const trace::Reader& before,
                                     const std::vector<EditedSource>& edited);

}  // namespace linebounce::sim
