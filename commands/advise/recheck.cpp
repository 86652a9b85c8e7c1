#include "commands/advise/recheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "commands/advise/child_process.hpp"
#include "models/text/shell_word.hpp"
#include "models/text/visible.hpp"
#include "sim/config/experiment.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

// Files in the folder that git tracks or would add, as relative paths; none if the folder is not in a git work tree.
std::optional<std::vector<fs::path>> files_of_git(const fs::path& folder) {
  const std::string command =
      fmt::format("git -C {} ls-files -z --cached --others --exclude-standard 2>/dev/null", shell_word(folder.string()));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> listed(::popen(command.c_str(), "r"), ::pclose);
  if (listed == nullptr) return std::nullopt;
  std::vector<fs::path> files;
  std::string name;
  for (int c = std::fgetc(listed.get()); c != EOF; c = std::fgetc(listed.get())) {
    if (c == '\0') {
      files.emplace_back(std::exchange(name, ""));
    } else {
      name += static_cast<char>(c);
    }
  }
  return files.empty() ? std::nullopt : std::optional(std::move(files));
}

std::vector<fs::path> all_files(const fs::path& folder) {
  static const std::set<std::string> kStores = {".hg", ".svn"};
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(folder), end; it != end; ++it) {
    if (kStores.contains(it->path().filename().string())) it.disable_recursion_pending();
    if (it->is_symlink() || it->is_regular_file()) files.push_back(it->path().lexically_relative(folder));
  }
  return files;
}

// Copies the sources. In a git work tree, leaves out ignored files such as build products, so that the copy is built from
// scratch.
void copy_sources(const fs::path& from, const fs::path& to, const fs::path& results) {
  const std::string skipped = fs::weakly_canonical(results).string() + "/";
  const std::optional<std::vector<fs::path>> known = files_of_git(from);
  for (const fs::path& file : known ? *known : all_files(from)) {
    const fs::path here = from / file;
    if (here.extension() == ".lbt" || here.string().starts_with(skipped) || !fs::exists(fs::symlink_status(here))) continue;
    const fs::path there = inner_path(to, file.string());
    fs::create_directories(there.parent_path());
    if (fs::is_symlink(here)) {
      fs::copy_symlink(here, there);
    } else if (fs::is_regular_file(here)) {
      fs::copy_file(here, there);
    }
  }
}

// Whether all words are options that linebounce-record stores in traces. A trace may come from anyone, so other options must
// not be executed.
bool are_of_recorder(const std::vector<std::string>& words) {
  static const std::set<std::string> kWithValue = {"--window", "--from", "--until", "--after", "--for"};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--binary" || words[i] == "--untimed" || words[i] == "--spread") continue;
    if (!kWithValue.contains(words[i]) || ++i == words.size() || words[i].starts_with("-")) return false;
  }
  return words.front() == "linebounce-record";
}

// The recorded command line, divided into the recorder's options and the program's words.
struct RecordedCommand {
  std::vector<std::string> recorder, program;
};

RecordedCommand recorded_command(const trace::Summary& summary) {
  const auto recorder = words_of_shell_line(summary.recorder);
  if (!recorder || !are_of_recorder(*recorder))
    throw ConfigError("--recheck: the trace was not made by linebounce-record, so the program cannot be recorded again");
  const auto program = words_of_shell_line(summary.program);
  if (!program)
    throw ConfigError(fmt::format(
        "--recheck: the recorded command line does not have the form that linebounce-record writes: {}", summary.program));
  return {*recorder, *program};
}

// The source files that the trace names.
std::set<std::string> source_files(const trace::Symbols& symbols) {
  std::set<std::string> files;
  const auto add = [&files](const auto& symbol) {
    if (!symbol.source.empty()) files.insert(symbol.source.substr(0, symbol.source.rfind(':')));
  };
  std::ranges::for_each(symbols.structures, add);
  std::ranges::for_each(symbols.objects, add);
  return files;
}

bool is_within(const fs::path& file, const fs::path& folder) {
  return *fs::proximate(file, folder).begin() != "..";
}

bool was_built_in(const fs::path& copy, const trace::Symbols& symbols) {
  const std::string begin = copy.string() + "/";
  const auto is_there = [&begin](const auto& symbol) { return symbol.source.starts_with(begin); };
  return std::ranges::any_of(symbols.structures, is_there) || std::ranges::any_of(symbols.objects, is_there);
}

// Whether the path is relative and stays within the folder. False for a bare name, which would be looked up in PATH and could
// name an interpreter.
bool is_path_within_folder(const fs::path& program) {
  return program.is_relative() && program.has_parent_path() && *program.lexically_normal().begin() != "..";
}

// True if the program was built in the copy, or copied with the folder. False for a link to an interpreter and for a script
// that names one.
bool is_program_of(const fs::path& copy, const fs::path& program) {
  std::error_code missing;
  const fs::path file = fs::canonical(copy / program, missing);
  if (missing || !is_within(file, fs::canonical(copy)) || !fs::is_regular_file(file)) return false;
  std::string magic(4, '\0');
  return std::ifstream(file, std::ios::binary).read(magic.data(), std::ssize(magic)) && magic ==
                                                                                            "\x7f"
                                                                                            "ELF";
}

std::vector<std::string> recorder_command(const trace::Summary& summary, const fs::path& trace) {
  RecordedCommand was = recorded_command(summary);
  std::vector<std::string> words = std::move(was.recorder);
  words.insert(words.end(), {"-o", trace.string(), "--"});
  words.insert(words.end(), was.program.begin(), was.program.end());
  return words;
}

}  // namespace

void require_recheckable(const trace::Reader& trace) {
  const RecordedCommand command = recorded_command(trace.summary());
  if (const fs::path program = command.program.front(); !is_path_within_folder(program))
    throw ConfigError(fmt::format(
        "--recheck: the program was recorded as {}: that is not a program that the build makes in a copy; record it by a "
        "relative path, as ./{}",
        trace.summary().program, program.filename().string()));
  const std::set<std::string> files = source_files(trace.symbols());
  const fs::path here = fs::current_path();
  const auto is_here = [&here](const std::string& file) { return is_within(file, here) && fs::exists(file); };
  if (std::ranges::none_of(files, is_here))
    throw ConfigError(
        "--recheck: nothing of the program's source is in the current folder, of which a copy is built; run this in the folder "
        "that has all of it");
}

void confirm_recheck(const std::string& build, const trace::Reader& trace) {
  const std::string program = visible_name(shell_line(recorder_command(trace.summary(), "again.lbt")));
  const std::string shown =
      fmt::format("--recheck runs, in a copy of this folder:\n  {}\n  {}\nThe second line is the trace's. Run both?",
                  shell_line({"sh", "-c", build}), program);
  confirm_running("--recheck", shown, program);
}

fs::path recorded_again(const Recheck& recheck, const trace::Reader& before, const std::vector<EditedSource>& edited) {
  const fs::path here = fs::current_path();
  const fs::path directory = fs::weakly_canonical(recheck.directory);
  const fs::path trace = directory / "again.lbt";
  fs::path copy;
  try {
    make_own_directory(directory);
    copy = emptied_folder(directory, "source");
    fs::remove(trace);
    copy_sources(here, copy, recheck.results);
  } catch (const fs::filesystem_error& error) {
    throw ConfigError(fmt::format("--recheck: {}", error.what()));
  }
  for (const EditedSource& file : edited) {
    if (!is_within(file.path, here))
      throw ConfigError(
          fmt::format("--recheck: {} is not in the current folder, of which a copy is built; run this in the "
                      "folder that has all of the source",
                      file.path.string()));
    // The copy has the folder's links. One to another folder of it is followed, one to elsewhere is refused.
    const fs::path edited_copy = fs::weakly_canonical(copy / fs::proximate(file.path, here));
    write_file(inner_path(copy, edited_copy.lexically_relative(copy).string()), file.text);
  }
  const fs::path programs = program_directory();
  ::setenv("CC", (programs / "linebounce-cc").c_str(), 1);
  ::setenv("CXX", (programs / "linebounce-c++").c_str(), 1);
  const char* path = std::getenv("PATH");
  ::setenv("PATH", fmt::format("{}:{}", programs.string(), path == nullptr ? "/usr/bin:/bin" : path).c_str(), 1);
  if (const int code = run_in(copy, {"sh", "-c", recheck.build}, directory / "build.log", "--recheck").code; code != 0)
    throw ConfigError(fmt::format("--recheck: building ended with {}: {} (its output is in {})", code, recheck.build,
                                  (directory / "build.log").string()));
  const std::vector<std::string> record = recorder_command(before.summary(), trace);
  if (const fs::path program = recorded_command(before.summary()).program.front(); !is_program_of(copy, program))
    throw ConfigError(
        fmt::format("--recheck: {} is not a program in {} after the build: a missing file, a script or a link to "
                    "elsewhere is not run",
                    program.string(), copy.string()));
  // A code other than 0 is not a failure: the recorder returns the program's own exit code.
  const int code = run_in(copy, record, directory / "run.log", "--recheck").code;
  if (!fs::exists(trace))
    throw ConfigError(fmt::format("--recheck: recording ended with {}: {} (its output is in {})", code, shell_line(record),
                                  (directory / "run.log").string()));
  if (!was_built_in(copy, trace::Reader(trace.string()).symbols()))
    throw ConfigError(
        fmt::format("--recheck: the program that ran was not built in {}: the build has to write it there, and it "
                    "has to be recorded by a relative path, not as {}",
                    copy.string(), before.summary().program));
  return trace;
}

}  // namespace linebounce::sim
