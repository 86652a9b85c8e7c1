// A results directory that is being written: which process may write, which results exist, and which files are ours.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/results/manifest.hpp"

namespace linebounce::sim {

struct Plan;

enum class LockKind {
  alone,      // for a run or a merge
  one_point,  // for `run --point K`: many may write to one directory at once, but not together with a run or a merge
};

// Held while a process writes to a directory; the system releases it however the process ends. The lock file contains the
// process's number.
class DirectoryLock {
 public:
  // Errors: ConfigError if another process holds the lock, with its number; OutputError if the lock file can't be created.
  DirectoryLock(const std::filesystem::path& directory, LockKind kind);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  bool try_lock(LockKind kind);

  std::filesystem::path directory_;
  std::filesystem::path path_;
  LockKind kind_;
  int descriptor_ = -1;
};

// `explain` writes this file into a results directory; `report` draws it.
constexpr const char* kExplanationFile = "explain.json";

// The directory of a point's files: DIR itself without a sweep, else DIR/points/K.
std::filesystem::path point_directory(const std::filesystem::path& directory, bool swept, int point);

// The file that keeps the result of one seed until all seeds of the point are done.
std::filesystem::path seed_path(const std::filesystem::path& point_directory, std::uint64_t seed);

// The manifest in a directory, if Linebounce wrote it.
std::optional<EarlierManifest> manifest_in(const std::filesystem::path& directory);

// What earlier runs of this configuration have left of a point.
struct PointFiles {
  std::optional<EarlierManifest> manifest;  // none if it is of another configuration
  bool done = false;                        // true if the point was run to its end, and its files are unchanged since
  std::string damage;                       // why a point that was run to its end is not done; empty otherwise
};
PointFiles look_at_point(const std::filesystem::path& point_directory, const std::string& hash);

// True if a run has finished anything in the directory, even one seed of a point.
bool holds_results(const std::filesystem::path& directory);

// Refuses a directory with results of another configuration than `plan`, or with files of our names but no manifest of ours.
// Errors: ConfigError, which says what differs.
void check_directory(const std::filesystem::path& directory, const Plan& plan);

// Deletes the files of earlier runs: every file that Linebounce writes, and no other. Deletes temporary files only if they
// are abandoned. REQUIRES: the lock is held exclusively. Errors: OutputError.
void remove_results(const std::filesystem::path& directory);
void remove_temporaries(const std::filesystem::path& directory);

// Deletes seed files that a killed run has left beside a finished point. Errors: OutputError.
void remove_seeds(const std::filesystem::path& point_directory);

}  // namespace linebounce::sim
