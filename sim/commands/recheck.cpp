#include "sim/commands/recheck.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <set>
#include <system_error>

#include "models/text/shell_word.hpp"
#include "sim/config/experiment.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/advice_page.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

// Where linebounce-cc and linebounce-record are: beside this program.
fs::path program_directory() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

// All but what this program writes, version control's store, and traces.
void copy_sources(const fs::path& from, const fs::path& to, const fs::path& results) {
  static const std::set<std::string> kSkipped = {".git", ".hg", ".svn", "out"};
  fs::create_directories(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    const bool skipped = kSkipped.contains(entry.path().filename().string()) || entry.path().extension() == ".lbt" ||
                         fs::equivalent(entry.path(), results);
    if (skipped) continue;
    fs::copy(entry.path(), to / entry.path().filename(),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks | fs::copy_options::overwrite_existing);
  }
}

void run_in(const fs::path& directory, const std::string& command, const fs::path& log, const std::string& what) {
  const std::string line =
      fmt::format("cd {} && {{ {}\n}} > {} 2>&1", shell_word(directory.string()), command, shell_word(log.string()));
  const int status = std::system(line.c_str());
  if (status != 0)
    throw ConfigError(fmt::format("--recheck: {} ended with {}: {} (its output is in {})", what,
                                  WIFEXITED(status) ? WEXITSTATUS(status) : status, command, log.string()));
}

}  // namespace

fs::path recorded_again(const Recheck& recheck, const std::vector<EditedSource>& edited) {
  const fs::path here = fs::current_path();
  const fs::path directory = fs::absolute(recheck.directory);
  const fs::path copy = directory / "source";
  try {
    fs::remove_all(copy);
    fs::create_directories(directory);
    copy_sources(here, copy, directory);
  } catch (const fs::filesystem_error& error) {
    throw ConfigError(fmt::format("--recheck: {}", error.what()));
  }
  for (const EditedSource& file : edited) {
    const fs::path name = fs::proximate(file.path, here);
    if (*name.begin() == "..")
      throw ConfigError(
          fmt::format("--recheck: {} is not in the current folder, of which a copy is built; run this in the "
                      "folder that has all of the source",
                      file.path.string()));
    write_file(copy / name, file.text);
  }
  const fs::path programs = program_directory();
  ::setenv("CC", (programs / "linebounce-cc").c_str(), 1);
  ::setenv("CXX", (programs / "linebounce-c++").c_str(), 1);
  const char* path = std::getenv("PATH");
  ::setenv("PATH", fmt::format("{}:{}", programs.string(), path == nullptr ? "/usr/bin:/bin" : path).c_str(), 1);
  run_in(copy, recheck.build, directory / "build.log", "building");
  const fs::path trace = directory / "again.lbt";
  const std::string record = fmt::format("linebounce-record -o {} -- {}", shell_word(trace.string()), recheck.run);
  run_in(copy, record, directory / "run.log", "recording");
  return trace;
}

}  // namespace linebounce::sim
