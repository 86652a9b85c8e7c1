// manifest.json, schema linebounce.manifest/1 (docs/manifest.schema.json): how results were made. It is the only results file
// that differs between two runs of one configuration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace linebounce::sim {

// Size and checksum of a results file as written.
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
  std::string hash;     // configuration hash of the whole experiment; in points/K, of that point
  std::string started;  // UTC, "2026-11-20T08:30:00Z"
  double wall_s = 0;
  double simulation_s = 0;  // wall time in seconds, added up over all runs of all points
  std::int64_t references = 0;
  std::int64_t peak_memory_kib = 0;  // of the largest process
  RunStatus status = RunStatus::interrupted;
  int points = 1;
  int points_done = 0;
  std::vector<FailedPoint> failed_points;
  FileRecords files;  // empty in a sweep's own directory, whose files every run merges again
};

// The manifest's text, with this program's version, commit, compiler, SystemC version and host added.
std::string manifest_text(const Manifest& manifest);

// The manifest's text with `files` or `status` replaced. REQUIRES: read_manifest() accepts it.
std::string with_files(const std::string& manifest, const FileRecords& files);
std::string with_status(const std::string& manifest, RunStatus status);

// The parts of an earlier run's manifest that a later run needs.
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

// None if Linebounce did not write the text.
std::optional<EarlierManifest> read_manifest(const std::string& text);

// program_version(): "0.1.0". program_commit(): `git describe` of the source tree, or "unknown" without git.
std::string program_version();
std::string program_commit();

std::string utc_now();

}  // namespace linebounce::sim
