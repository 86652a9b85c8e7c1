#include "sim/results/own_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "models/text/visible.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/manifest.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = ".linebounce";
constexpr std::string_view kReserved = ".linebounce-";  // begins the names of locks, temporary files and seeds
constexpr std::string_view kMarkText =
    "# Linebounce made this folder and may replace its files. It may delete these folders:\n";

constexpr std::size_t kSignWithin = 4096;

// The functions below delete recursively. Their callers have made sure that Linebounce made the folder.

void delete_own(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) throw OutputError(folder.string() + ": cannot be deleted: " + error.message());
}

// The second attempt helps if the first met an error that has passed.
void delete_own_if_possible(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) fs::remove_all(folder, error);
}

fs::file_type type_of(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type();
}

// The first entry by name that is neither a lock nor a temporary file; none if there is none.
std::optional<std::string> first_entry(const fs::path& directory) {
  std::error_code error;
  std::optional<std::string> first;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kReserved) && (!first || name < *first)) first = name;
  }
  return first;
}

// The directories that this process has made, parents first. They belong to the process, as its exit code does: a refusal may
// come from anywhere below a command.
std::vector<fs::path>& made_directories() {
  static std::vector<fs::path> directories;
  return directories;
}

void make_noted(const fs::path& directory) {
  const bool is_new = !is_there(directory);
  make_directories(directory);
  if (is_new) made_directories().push_back(directory);
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_marked(const fs::path& directory) {
  return type_of(directory / kMark) == fs::file_type::regular;
}

bool has_results(const fs::path& directory) {
  const fs::path manifest = directory / "manifest.json";
  return is_there(manifest) && read_manifest(read_file(manifest));
}

// The folders that the directory's mark lists.
std::vector<std::string> listed_folders(const fs::path& directory) {
  std::vector<std::string> names;
  if (!is_marked(directory)) return names;
  std::istringstream text(read_file(directory / kMark));
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("#") && !line.empty()) names.push_back(line);
  }
  return names;
}

void write_mark(const fs::path& directory, const std::vector<std::string>& folders) {
  std::string text(kMarkText);
  for (const std::string& name : folders) text += name + "\n";
  write_if_changed(directory / kMark, text);
}

void list_folders(const fs::path& directory, const std::vector<std::string>& names) {
  std::vector<std::string> listed = listed_folders(directory);
  for (const std::string& name : names) {
    if (std::ranges::find(listed, name) == listed.end()) listed.push_back(name);
  }
  write_mark(directory, listed);
}

// Refuses to replace DIRECTORY/NAME unless it is absent, empty, or listed.
void require_own_folder(const fs::path& directory, const std::string& name) {
  const fs::path folder = inner_path(directory, name);
  if (type_of(folder) == fs::file_type::not_found) return;
  const std::vector<std::string> listed = listed_folders(directory);
  if (std::ranges::find(listed, name) != listed.end()) return;
  if (type_of(folder) == fs::file_type::directory && !first_entry(folder)) return;
  throw ConfigError(
      fmt::format("{}: Linebounce did not make this, so it is not replaced; move it, or choose another directory with -o",
                  folder.string()));
}

}  // namespace

std::string name_problem(const std::string& name) {
  if (visible_name(name) != name) return "it has a character that acts on a terminal";
  if (name.starts_with('/')) return "it begins with a slash, and nothing is written outside the output";
  for (const std::string& part : parts_of(name)) {
    if (part.empty() || part == "." || part == "..")
      return "a part is empty, . or .., and nothing is written outside the output";
  }
  return {};
}

fs::path inner_path(const fs::path& directory, const std::string& name) {
  if (const std::string problem = name_problem(name); !problem.empty())
    throw ConfigError(fmt::format("\"{}\" can't be a name in {}: {}", visible_name(name), directory.string(), problem));
  fs::path place = directory;
  for (const std::string& part : parts_of(name)) {
    place /= part;
    if (type_of(place) == fs::file_type::symlink)
      throw OutputError(place.string() + ": is a symbolic link, and nothing is written elsewhere; remove it");
  }
  return place;
}

void require_own_directory(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error) || is_marked(directory)) return;
  const std::optional<std::string> entry = first_entry(directory);
  if (!entry || has_results(directory)) return;
  throw ConfigError(
      fmt::format("{0}: holds {1}, and Linebounce did not make this directory, so it may be someone else's; choose another "
                  "directory with -o (or, if Linebounce may replace files here, make {2})",
                  directory.string(), visible_name(*entry), (directory / kMark).string()));
}

void make_own_directory(const fs::path& directory) {
  require_own_directory(directory);
  make_parents(directory);
  make_noted(directory);
  if (!is_marked(directory)) write_mark(directory, {});
}

NewOwnDirectory::NewOwnDirectory(const fs::path& directory) {
  for (fs::path path = directory; !path.empty() && !is_there(path); path = path.parent_path()) made_.push_back(path);
  make_own_directory(directory);
}

NewOwnDirectory::~NewOwnDirectory() {
  for (const fs::path& directory : made_) {
    std::error_code failed;
    const bool only_mark = std::distance(fs::directory_iterator(directory, failed), fs::directory_iterator()) == 1;
    if (failed || !only_mark || !is_marked(directory)) return;
    fs::remove(directory / kMark, failed);
    fs::remove(directory, failed);
  }
}

void make_results_directory(const fs::path& directory) {
  require_own_directory(directory);
  make_parents(directory);
  make_noted(directory);
}

void leave_mark_to_manifest(const fs::path& directory) {
  std::error_code error;
  if (is_marked(directory) && listed_folders(directory).empty()) fs::remove(directory / kMark, error);
  if (error) throw OutputError((directory / kMark).string() + ": cannot be deleted: " + error.message());
}

void remove_unused_directories() {
  std::vector<fs::path>& made = made_directories();
  for (; !made.empty(); made.pop_back()) {
    std::error_code ignored;  // a directory that holds anything else stays
    const auto entries = std::distance(fs::directory_iterator(made.back(), ignored), fs::directory_iterator());
    if (entries > (is_marked(made.back()) ? 1 : 0)) continue;
    fs::remove(made.back() / kMark, ignored);
    fs::remove(made.back(), ignored);
  }
}

void make_parents(const fs::path& path) {
  const fs::path parent = path.parent_path();
  if (parent.empty() || parent == path || is_there(parent)) return;
  make_parents(parent);
  make_noted(parent);
  write_mark(parent, {});
}

void replace_own_file(const fs::path& path, std::string_view content, std::string_view sign) {
  if (is_there(path) && read_file(path).substr(0, kSignWithin).find(sign) == std::string::npos)
    throw ConfigError(path.string() +
                      ": is there already, and Linebounce did not write it; move it, or choose another place with -o");
  replace_file(path, content);
}

fs::path emptied_folder(const fs::path& directory, const std::string& name) {
  require_own_folder(directory, name);
  const fs::path folder = inner_path(directory, name);
  delete_own(folder);
  make_directories(folder);
  list_folders(directory, {name});
  return folder;
}

UnfinishedFolders::UnfinishedFolders(fs::path directory, std::vector<std::string> names)
    : directory_(std::move(directory)), names_(std::move(names)) {
  for (const std::string& name : names_) require_own_folder(directory_, name);
  lock_ = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) throw OutputError(write_problem(directory_, errno));
  // A file system that has no locks is none that two processes share by accident.
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock_);
    throw ConfigError(directory_.string() +
                      ": another command is writing into this directory; wait for it, or choose another with -o");
  }
  // Under the lock, a temporary folder or file here is one that a killed process left.
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, error)) {
    if (!entry.path().filename().string().starts_with(kTemporaryPrefix)) continue;
    const fs::file_type type = type_of(entry.path());
    if (type == fs::file_type::directory) delete_own_if_possible(entry.path());
    std::error_code ignored;
    if (type == fs::file_type::regular) fs::remove(entry.path(), ignored);
  }
  work_ = directory_ / (std::string(kTemporaryPrefix) + std::to_string(::getpid()));
  make_directories(work_);
}

UnfinishedFolders::~UnfinishedFolders() {
  delete_own_if_possible(work_);
  ::close(lock_);
}

void UnfinishedFolders::finish() {
  // The mark comes first: a folder that it lists and that is not there does no harm.
  list_folders(directory_, names_);
  for (const std::string& name : names_) {
    const fs::path place = inner_path(directory_, name);
    const fs::path earlier = work_ / (name + ".earlier");
    std::error_code error, ignored;
    if (is_there(place)) fs::rename(place, earlier, error);
    if (!error) fs::rename(work_ / name, place, error);
    if (!error) continue;
    if (is_there(earlier)) fs::rename(earlier, place, ignored);
    throw OutputError(fmt::format("{}: cannot be written: {}", place.string(), error.message()));
  }
}

ScratchFolder::ScratchFolder(const std::string& purpose) {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / ("linebounce-" + purpose + "-XXXXXX")).string();
  if (error || ::mkdtemp(name.data()) == nullptr)
    throw OutputError("cannot make a temporary folder: " +
                      (error ? error : std::error_code(errno, std::generic_category())).message());
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  delete_own_if_possible(path_);
}

}  // namespace linebounce::sim
