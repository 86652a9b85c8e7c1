// A results directory while it is being written: which process may write, what is there already, and which files are ours.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/results/manifest.hpp"

namespace linebounce::sim {

struct Plan;

enum class LockKind {
  alone,      // for a run or a merge
  one_point,  // for `run --point K`: many at the same time in one directory, but none beside a run or a merge
};

// Held while a process writes into a directory; released when the process ends in any way. The lock file holds the process's
// number.
class DirectoryLock {
 public:
  // Errors: ConfigError if another process holds it, with its number; OutputError if the lock file can't be made.
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

// The file that holds one seed's run until all seeds of its point are done.
std::filesystem::path seed_path(const std::filesystem::path& point_directory, std::uint64_t seed);

// The manifest in a directory, if it is one of ours.
std::optional<EarlierManifest> manifest_in(const std::filesystem::path& directory);

// What earlier runs of this configuration have left for a point.
struct PointFiles {
  std::optional<EarlierManifest> manifest;  // if it is of this configuration
  bool done = false;                        // whether it was run to its end, and all its files are still as written
  std::string damage;                       // if it was run to its end but is not done: why
};
PointFiles look_at_point(const std::filesystem::path& point_directory, const std::string& hash);

// Whether a run has finished anything there, even one seed of a point.
bool holds_results(const std::filesystem::path& directory);

// Refuses a directory with results of another configuration than `plan`, or with files of our names but no manifest of ours.
// Errors: ConfigError, which says what differs.
void check_directory(const std::filesystem::path& directory, const Plan& plan);

// Deletes the files of earlier runs: every file that Linebounce writes, and no other; only abandoned temporary files. REQUIRES:
// the lock is held exclusively. Errors: OutputError.
void remove_results(const std::filesystem::path& directory);
void remove_temporaries(const std::filesystem::path& directory);

// Deletes the outcomes of seeds that a killed run has left beside a finished point. Errors: OutputError.
void remove_seeds(const std::filesystem::path& point_directory);

}  // namespace linebounce::sim
