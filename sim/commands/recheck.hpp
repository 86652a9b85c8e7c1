// A change made in a copy of the source, which is built and recorded as the program was.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/studies/advice/source_edit.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

struct Recheck {
  std::filesystem::path directory;  // of what is made here: source/, the copy; build.log, run.log, again.lbt
  std::filesystem::path results;    // not copied
  std::string build;                // a shell command, in the copy; CC and CXX are linebounce-cc and linebounce-c++
};

// What can be known before anything is replayed. Errors: ConfigError for a trace that is not of linebounce-record, a program
// that is not named by a path within the folder, and one of which no source is in the current folder.
void require_recheckable(const trace::Reader& trace);

// Shows what would run and asks whether it may, on the terminal: the command line comes from the trace, which may be anybody's.
// Errors: ConfigError, which names the command line, if the answer is no, or nobody can be asked.
void confirm_recheck(const std::string& build, const trace::Reader& trace);

// The new trace, recorded with the command line and the window of `before`. The copy is of the current folder, without traces,
// and in a work tree of git's without what it ignores; the edited files have to be in it. Errors: ConfigError where something
// can't be copied, built or recorded (it names the log), and where the program that ran was not built in the copy.
std::filesystem::path recorded_again(const Recheck& recheck, const trace::Reader& before,
                                     const std::vector<EditedSource>& edited);

}  // namespace linebounce::sim
