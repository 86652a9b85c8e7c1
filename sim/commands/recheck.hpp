// Makes a change in a copy of the source, which is built and recorded as the program was.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/studies/advice/source_edit.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

struct Recheck {
  std::filesystem::path directory;  // holds source/, the copy; build.log, run.log, again.lbt
  std::filesystem::path results;    // a folder that is not copied
  std::string build;                // a shell command that runs in the copy; CC and CXX are linebounce-cc and linebounce-c++
};

// Checks what can be known before any replay. Errors: ConfigError for a trace that is not linebounce-record's, a program that
// is not named by a path within the folder, and a program without sources in the current folder.
void require_recheckable(const trace::Reader& trace);

// Shows what would run and asks for permission on the terminal, because the command line comes from the trace, which may be
// anybody's. Errors: ConfigError, which names the command line, if the answer is no or there is no terminal.
void confirm_recheck(const std::string& build, const trace::Reader& trace);

// Returns the new trace, recorded with the command line and the window of `before`. Copies the current folder without traces,
// and in a git work tree without ignored files; the edited files must be among the copied. Errors: ConfigError if copying,
// building or recording fails (it names the log), or if the program that ran was not built in the copy.
std::filesystem::path recorded_again(const Recheck& recheck, const trace::Reader& before,
                                     const std::vector<EditedSource>& edited);

}  // namespace linebounce::sim
