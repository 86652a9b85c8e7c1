// manifest.json, schema linebounce.manifest/1 (docs/manifest.schema.json): how results were made. The only file of a results
// directory that differs between two runs of the same configuration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace linebounce::sim {

// A results file's size and checksum when it was written.
struct FileRecord {
  std::uint64_t bytes = 0;
  std::string checksum;  // by trace::Fingerprint
  bool operator==(const FileRecord&) const = default;
};
using FileRecords = std::map<std::string, FileRecord>;  // by name

enum class RunStatus { complete, interrupted, failed };

struct FailedPoint {
  int point = 0;
  int exit_code = 0;
  std::string reason;  // the failure's first line
};

struct Manifest {
  std::vector<std::string> argv;
  std::uint64_t seed = 1;
  int seeds = 1;
  std::string hash;     // configuration_hash of the whole experiment, or of the point in points/K
  std::string started;  // UTC, "2026-11-20T08:30:00Z"
  double wall_s = 0;
  double simulation_s = 0;  // wall time summed over every run of every point
  std::int64_t references = 0;
  std::int64_t peak_memory_kib = 0;  // of the largest process
  RunStatus status = RunStatus::interrupted;
  int points = 1;
  int points_done = 0;
  std::vector<FailedPoint> failed_points;
  FileRecords files;  // empty at the top level of a sweep, whose files are merged anew by every run
};

// The manifest's text; adds this program's version, commit, compiler, SystemC and host.
std::string manifest_text(const Manifest& manifest);

// A manifest's text with other files or another status. REQUIRES: read_manifest() can read it.
std::string with_files(const std::string& manifest, const FileRecords& files);
std::string with_status(const std::string& manifest, RunStatus status);

// What a later run needs from an earlier run's manifest.
struct EarlierManifest {
  std::string hash;
  std::string commit;
  RunStatus status = RunStatus::interrupted;
  double simulation_s = 0;
  std::int64_t references = 0;
  std::int64_t peak_memory_kib = 0;
  std::vector<FailedPoint> failed_points;
  FileRecords files;
};

// None if the text is no manifest of ours.
std::optional<EarlierManifest> read_manifest(const std::string& text);

// "0.1.0", and `git describe` of the source tree, or "unknown" without git.
std::string program_version();
std::string program_commit();

std::string utc_now();

}  // namespace linebounce::sim
