#include "sim/plan/output_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include "sim/config/experiment.hpp"
#include "sim/config/settings.hpp"
#include "sim/plan/family_range_file.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/point_files.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

// ---- the differences between two configurations, as text ----

constexpr std::size_t kMostShown = 3;
constexpr std::size_t kLongestValue = 40;

std::string text_of_node(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  std::ostringstream text;
  node.visit([&text](const auto& value) { text << value; });
  return text.str();
}

std::map<std::string, std::string> values_by_path(const toml::table& table) {
  std::map<std::string, std::string> values;
  for (const Leaf& leaf : leaves(table, "", "", {})) values.emplace(leaf.path, text_of_node(*leaf.node));
  return values;
}

std::string value_or_none(const std::map<std::string, std::string>& values, const std::string& path) {
  const auto found = values.find(path);
  return found == values.end() ? "unset" : found->second;
}

std::string change_of(const std::string& path, const std::string& there, const std::string& here) {
  if (there.size() > kLongestValue || here.size() > kLongestValue) return "another " + path;
  return fmt::format("{} = {}, not {}", path, there, here);
}

// "workload.lock = ticket, not mcs; machine.cpus = 4, not 8; and 2 more differences": the values in the directory come first.
// Empty if there is no difference.
std::string differing_settings(const toml::table& there, const toml::table& here) {
  const auto before = values_by_path(there), now = values_by_path(here);
  std::set<std::string> paths;
  for (const auto* values : {&before, &now}) {
    for (const auto& [path, value] : *values) {
      if (value_or_none(before, path) != value_or_none(now, path)) paths.insert(path);
    }
  }
  std::string out;
  std::size_t shown = 0;
  for (const std::string& path : paths) {
    if (shown == kMostShown) {
      const std::size_t more = paths.size() - shown;
      return fmt::format("{}; and {} more difference{}", out, more, more == 1 ? "" : "s");
    }
    ++shown;
    out += (out.empty() ? "" : "; ") + change_of(path, value_or_none(before, path), value_or_none(now, path));
  }
  return out;
}

namespace fs = std::filesystem;

constexpr const char* kLockName = ".linebounce-lock";
constexpr const char* kPointsFolder = "points";
constexpr std::string_view kSeedPrefix = ".linebounce-seed-";

bool begins_with(const fs::path& path, std::string_view prefix) {
  return path.filename().string().starts_with(prefix);
}

void remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) throw OutputError(path.string() + ": cannot be deleted: " + error.message());
}

// The entries of a directory; empty if it does not exist. Throws if it can't be read, because an unreadable directory must not
// look empty.
std::vector<fs::path> entries(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    paths.push_back(entry->path());
  }
  const bool absent = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error && !absent) throw InputError(directory.string() + ": cannot be read: " + error.message());
  std::ranges::sort(paths);
  return paths;
}

// The folders points/0, points/1 and so on, whose names are numbers.
std::vector<fs::path> point_directories(const fs::path& directory) {
  std::error_code unreadable;
  std::vector<fs::path> numbered;
  for (const fs::path& path : entries(directory / kPointsFolder)) {
    const std::string name = path.filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos && fs::is_directory(fs::symlink_status(path, unreadable)))
      numbered.push_back(path);
  }
  return numbered;
}

// The directories that hold results: the directory itself and its points.
std::vector<fs::path> result_places(const fs::path& directory) {
  std::vector<fs::path> places = point_directories(directory);
  places.insert(places.begin(), directory);
  return places;
}

void remove_files_with_prefix(const fs::path& directory, std::string_view prefix) {
  for (const fs::path& path : entries(directory)) {
    if (begins_with(path, prefix)) remove_file(path);
  }
}

void remove_results_here(const fs::path& directory) {
  remove_files_with_prefix(directory, kTemporaryPrefix);
  remove_files_with_prefix(directory, kSeedPrefix);
  for (const std::string& name : result_names()) remove_file(directory / name);
  remove_file(directory / kExplanationFile);
  remove_file(directory / "manifest.json");  // last, because the manifest marks the directory as ours
}

// In case this process is killed before the rest of the results has gone.
void mark_interrupted(const fs::path& directory) {
  const fs::path manifest = directory / "manifest.json";
  if (manifest_in(directory)) replace_file(manifest, with_status(read_file(manifest), RunStatus::interrupted));
}

// DIRECTORY.1, or with the next number that is free, newly made. A directory such as "." or a link is called by its own name.
fs::path numbered_neighbour(const fs::path& directory) {
  std::error_code error;
  fs::path named = directory.has_filename() ? directory : directory.parent_path();
  if (fs::is_symlink(named, error) || named.filename() == "." || named.filename() == "..") named = fs::canonical(named, error);
  for (int number = 1;; ++number) {
    fs::path neighbour = fs::path(named).concat(fmt::format(".{}", number));
    if (is_there(neighbour)) continue;
    make_directories(neighbour);
    return neighbour;
  }
}

void move_entry(const fs::path& from, const fs::path& to, const fs::path& name) {
  if (!is_there(from / name)) return;
  std::error_code error;
  fs::rename(from / name, to / name, error);
  if (error)
    throw OutputError(fmt::format("{}: cannot be moved to {}: {}; move or delete the earlier results", (from / name).string(),
                                  to.string(), error.message()));
}

// Moves what remove_results_here() deletes. REQUIRES: there are no temporary files.
void move_results_here(const fs::path& from, const fs::path& to) {
  make_directories(to);
  for (const fs::path& path : entries(from)) {
    if (begins_with(path, kSeedPrefix)) move_entry(from, to, path.filename());
  }
  for (const std::string& name : result_names()) move_entry(from, to, name);
  move_entry(from, to, kExplanationFile);
}

void move_results(const fs::path& from, const fs::path& to) {
  make_directories(to);
  // A copy, because the manifest marks the directory as ours until all else has gone.
  if (manifest_in(from)) replace_file(to / "manifest.json", read_file(from / "manifest.json"));
  mark_interrupted(from);
  std::error_code not_empty;  // keeps the directory if it contains files of the user
  for (const fs::path& point : point_directories(from)) {
    const fs::path there = to / kPointsFolder / point.filename();
    move_results_here(point, there);
    move_entry(point, there, "manifest.json");
    fs::remove(point, not_empty);
  }
  fs::remove(from / kPointsFolder, not_empty);
  if (manifest_in(from / kFamilyRangeFolder)) move_results(from / kFamilyRangeFolder, to / kFamilyRangeFolder);
  fs::remove(from / kFamilyRangeFolder, not_empty);
  move_results_here(from, to);
  remove_file(from / "manifest.json");
}

std::string holder(const fs::path& lock) {
  try {
    const std::string text = read_file(lock);
    if (!text.empty()) return " (process " + text.substr(0, text.find('\n')) + ")";
  } catch (const InputError&) {
    // The process that held the lock has ended.
  }
  return "";
}

// Locks the file; returns 0 or an errno. Retries, because the children of a killed run hold its lock for a moment longer.
int lock_soon(int descriptor, LockKind kind) {
  constexpr int kTries = 20;
  constexpr auto kPause = std::chrono::milliseconds(20);
  for (int tries = 1;; ++tries) {
    if (::flock(descriptor, (kind == LockKind::alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK || tries == kTries) return errno;
    std::this_thread::sleep_for(kPause);
  }
}

// Replaces the file's content. Returns 0 or an errno.
int write_again(int descriptor, std::string_view text) {
  return ::ftruncate(descriptor, 0) == 0 ? write_all(descriptor, text) : errno;
}

// How the directory's configuration differs: " with machine.cpus = 4, not 8". Without details if its file can't be read.
std::string difference_from(const fs::path& directory, const Plan& plan) {
  const std::string unknown = " of another configuration";
  const fs::path file = directory / "config.toml";
  if (!is_there(file)) return unknown;
  try {
    const std::string difference = differing_settings(essential_settings(parse_toml(read_file(file), file.string())),
                                                      essential_settings(plan.experiment.resolved));
    return difference.empty() ? " with the same settings, but a file that they name has changed" : " with " + difference;
  } catch (const ConfigError&) {
    return unknown;  // config.toml was edited and is no longer valid
  }
}

}  // namespace

DirectoryLock::DirectoryLock(const fs::path& directory, LockKind kind)
    : directory_(directory), path_(directory / kLockName), kind_(kind) {
  for (const char* folder : {kPointsFolder, kFamilyRangeFolder}) inner_path(directory, folder);
  while (!try_lock(kind)) {
  }
  if (kind == LockKind::alone) {
    const std::string number = std::to_string(::getpid()) + "\n";
    if (const int error = write_again(descriptor_, number); error != 0) {
      ::unlink(path_.c_str());
      ::close(descriptor_);
      throw OutputError(write_problem(path_, error));
    }
  }
}

// Returns false if the previous holder removed the lock file meanwhile. The caller then locks a new file.
bool DirectoryLock::try_lock(LockKind kind) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor_ < 0) throw OutputError(write_problem(path_, errno));
  if (const int error = lock_soon(descriptor_, kind); error != 0) {
    ::close(descriptor_);
    if (error != EWOULDBLOCK)
      throw OutputError(path_.string() + ": cannot be locked: " + std::generic_category().message(error));
    throw ConfigError(directory_.string() + ": another run" + holder(path_) +
                      " is writing into this directory; wait for it, or choose another directory with -o");
  }
  struct stat opened {};
  struct stat present {};
  const bool same =
      ::fstat(descriptor_, &opened) == 0 && ::stat(path_.c_str(), &present) == 0 && opened.st_ino == present.st_ino;
  if (!same) ::close(descriptor_);
  return same;
}

DirectoryLock::~DirectoryLock() {
  if (kind_ == LockKind::alone) ::unlink(path_.c_str());
  ::close(descriptor_);
}

fs::path point_directory(const fs::path& directory, bool swept, int point) {
  return swept ? directory / kPointsFolder / std::to_string(point) : directory;
}

void make_point_directory(const fs::path& directory, bool swept, int point) {
  make_directories(swept ? inner_path(directory / kPointsFolder, std::to_string(point)) : directory);
}

fs::path seed_path(const fs::path& point_directory, std::uint64_t seed) {
  return point_directory / (std::string(kSeedPrefix) + std::to_string(seed));
}

std::optional<EarlierManifest> manifest_in(const fs::path& directory) {
  const fs::path path = directory / "manifest.json";
  if (!is_there(path)) return std::nullopt;
  return read_manifest(read_file(path));
}

PointFiles look_at_point(const fs::path& point_directory, const std::string& hash) {
  PointFiles found;
  try {
    const auto manifest = manifest_in(point_directory);
    if (manifest && manifest->hash == hash) found.manifest = manifest;
  } catch (const InputError& error) {
    found.damage = error.what();
  }
  if (!found.manifest || found.manifest->status != RunStatus::complete) return found;
  found.damage = damage_of(point_directory, found.manifest->files);
  found.done = found.damage.empty();
  return found;
}

bool holds_results(const fs::path& directory) {
  const std::vector<std::string>& names = result_names();
  for (const fs::path& place : result_places(directory)) {
    for (const fs::path& path : entries(place)) {
      const bool result = std::ranges::find(names, path.filename().string()) != names.end();
      if (result || begins_with(path, kSeedPrefix)) return true;
    }
  }
  return false;
}

void check_directory(const fs::path& directory, const Plan& plan) {
  if (const auto manifest = manifest_in(directory)) {
    if (manifest->hash == plan.hash) return;
    throw ConfigError(directory.string() + ": holds results" + difference_from(directory, plan) +
                      ". Choose another directory with -o, or start over with --fresh, which keeps these results in a "
                      "neighbour.");
  }
  std::vector<std::string> names = result_names();
  names.emplace_back("manifest.json");
  for (const fs::path& place : result_places(directory)) {
    for (const std::string& name : names) {
      if (!is_there(place / name)) continue;
      throw ConfigError(directory.string() + ": holds a " + (place / name).lexically_relative(directory).string() +
                        " but no manifest.json of Linebounce, so it may be someone else's; choose another directory with -o");
    }
  }
}

void remove_results(const fs::path& directory) {
  mark_interrupted(directory);
  std::error_code not_empty;  // keeps the directory if it contains files of the user
  for (const fs::path& point : point_directories(directory)) {
    remove_results_here(point);
    fs::remove(point, not_empty);
  }
  fs::remove(directory / kPointsFolder, not_empty);
  const fs::path family_range = directory / kFamilyRangeFolder;
  if (manifest_in(family_range)) remove_results(family_range);
  fs::remove(family_range, not_empty);
  remove_results_here(directory);
}

fs::path set_aside_results(const fs::path& directory) {
  remove_temporaries(directory);
  fs::path kept = numbered_neighbour(directory);
  move_results(directory, kept);
  return kept;
}

void remove_seeds(const fs::path& point_directory) {
  remove_files_with_prefix(point_directory, kSeedPrefix);
}

void remove_temporaries(const fs::path& directory) {
  remove_files_with_prefix(directory, kTemporaryPrefix);
  for (const fs::path& point : point_directories(directory)) remove_files_with_prefix(point, kTemporaryPrefix);
}

}  // namespace linebounce::sim
