// A results directory while it is being written: who may write, what is there already, what of it is ours.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/results/manifest.hpp"

namespace linebounce::sim {

struct Plan;

enum class LockKind {
  alone,      // a run or a merge
  one_point,  // `run --point K`: many at once in one directory, but none beside a run or a merge
};

// Held while a process writes into a directory; goes with the process, however it ends. The lock file holds the process's
// number.
class DirectoryLock {
 public:
  // Errors: ConfigError when another process holds it, naming that; OutputError when there can be no lock file.
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

// `explain` writes it into a results directory; `report` draws it.
constexpr const char* kExplanationFile = "explain.json";

// Where a point's files are: DIR itself without a sweep, else DIR/points/K.
std::filesystem::path point_directory(const std::filesystem::path& directory, bool swept, int point);

// The file in which one seed's run waits for the others of its point.
std::filesystem::path seed_path(const std::filesystem::path& point_directory, std::uint64_t seed);

// The manifest in a directory, if there is one of ours.
std::optional<EarlierManifest> manifest_in(const std::filesystem::path& directory);

// What earlier runs of this configuration have left of a point.
struct PointFiles {
  std::optional<EarlierManifest> manifest;  // if it is of this configuration
  bool done = false;                        // it was run to its end, and all its files are still as they were written
  std::string damage;                       // of a point that was run to its end: why it is not done
};
PointFiles look_at_point(const std::filesystem::path& point_directory, const std::string& hash);

// Whether a run has finished anything there, be it one seed of a point.
bool holds_results(const std::filesystem::path& directory);

// Refuses, as a ConfigError that says what differs, a directory that holds results of another configuration than `plan`; or
// files with our names, but no manifest of ours.
void check_directory(const std::filesystem::path& directory, const Plan& plan);

// Deletes what runs before this one left: every file that Linebounce writes, and none other; of temporary files the abandoned.
// REQUIRES: the lock is held alone. Errors: OutputError.
void remove_results(const std::filesystem::path& directory);
void remove_temporaries(const std::filesystem::path& directory);

// Deletes the seeds' outcomes that a killed run has left beside a point that is done. Errors: OutputError.
void remove_seeds(const std::filesystem::path& point_directory);

}  // namespace linebounce::sim
