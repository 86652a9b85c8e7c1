// Access to a results directory: who may write to it, which results it holds, and which files are ours.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/results/manifest.hpp"

namespace linebounce::sim {

struct Plan;

enum class LockKind {
  alone,      // held by a run or a merge
  one_point,  // held by `run --point K`: several may write at once, but not beside a run or a merge
};

// Held while a process writes to a directory. The system releases it however the process ends. The lock file contains the
// process's id.
class DirectoryLock {
 public:
  // Errors: ConfigError if another process holds the lock, with its number; OutputError if the lock file can't be created, or
  // if a folder of ours within the directory is a symbolic link.
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

// Written by `explain`, drawn by `report`.
constexpr const char* kExplanationFile = "explain.json";

// The directory for a point's files: DIR itself without a sweep, else DIR/points/K.
std::filesystem::path point_directory(const std::filesystem::path& directory, bool swept, int point);
// Makes it. Errors: OutputError, also if DIR/points/K is a symbolic link.
void make_point_directory(const std::filesystem::path& directory, bool swept, int point);

// The file with one seed's result, kept until all seeds of the point are done.
std::filesystem::path seed_path(const std::filesystem::path& point_directory, std::uint64_t seed);

// The directory's manifest; none if there is none that Linebounce wrote.
std::optional<EarlierManifest> manifest_in(const std::filesystem::path& directory);

// What earlier runs of this configuration left of a point.
struct PointFiles {
  std::optional<EarlierManifest> manifest;  // none if there is none, or it is of another configuration
  bool done = false;                        // true if the point was completed and its files are unchanged since
  std::string damage;                       // what is wrong with the files of a completed point; else empty
};
PointFiles look_at_point(const std::filesystem::path& point_directory, const std::string& hash);

// True if earlier runs have finished anything there, if only one seed of a point.
bool holds_results(const std::filesystem::path& directory);

// Refuses a directory that holds results of another configuration, or files with our names but no manifest of ours. Errors:
// ConfigError, which says what differs.
void check_directory(const std::filesystem::path& directory, const Plan& plan);

// remove_results() deletes every file that Linebounce writes, and no other. set_aside_results() moves these files into a new
// neighbour of the directory, DIRECTORY.1 or the next number that is free, and returns its path. remove_temporaries() deletes
// abandoned temporary files. REQUIRES: the directory is locked exclusively. Errors: OutputError.
void remove_results(const std::filesystem::path& directory);
std::filesystem::path set_aside_results(const std::filesystem::path& directory);
void remove_temporaries(const std::filesystem::path& directory);

// Deletes seed files that a killed run left beside a finished point. Errors: OutputError.
void remove_seeds(const std::filesystem::path& point_directory);

}  // namespace linebounce::sim
