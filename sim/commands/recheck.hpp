// Whether a predicted gain holds: the change is made in a copy of the source, which is built, recorded and replayed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace linebounce::sim {

struct Recheck {
  std::filesystem::path directory;  // below it: source/, the copy; build.log, run.log, again.lbt
  std::string build;                // a shell command, in the copy; CC and CXX are linebounce-cc and linebounce-c++
  std::string run;                  // the program's own command line
};

struct EditedSource;

// The new trace. The copy is of the current folder, which the edited files have to be in. Errors: ConfigError where something
// can't be copied, built or recorded; it names the log.
std::filesystem::path recorded_again(const Recheck& recheck, const std::vector<EditedSource>& edited);

}  // namespace linebounce::sim
