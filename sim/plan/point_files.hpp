// The files of one point in its directory, from the simulation's process to the finished results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/plan/results_json.hpp"
#include "sim/results/manifest.hpp"

namespace linebounce::sim {

// simulate(), or a test's replacement.
using Simulation = std::function<PointData(const SimulationInput&, const std::function<void(double)>& progress)>;

// Runs in a process of its own: simulates one point with one of its seeds and writes the outcome to its seed file.
void simulate_seed(const Simulation& simulation, const Plan& plan, int point, std::uint64_t seed,
                   const std::filesystem::path& point_directory, const std::function<void(double)>& progress);

// Whether an earlier, interrupted run has left this seed's outcome.
bool seed_is_done(const Plan& plan, int point, std::uint64_t seed, const std::filesystem::path& point_directory);

// Merges the seed files into the point's results and deletes them. `manifest` holds what the caller knows (argv, times); the
// rest is filled in. The manifest is written last and makes the point done. Errors: OutputError, InputError.
void finish_point(const Plan& plan, int point, const std::filesystem::path& point_directory, Manifest manifest);

// Records that a point failed, for later merges.
void write_failed_point(const Plan& plan, const FailedPoint& failed, const std::filesystem::path& point_directory,
                        Manifest manifest);

// A point whose files differ from those that the run had written.
struct DamagedPoint {
  int point = 0;
  std::string reason;
};

// All points, merged from the directories of finished ones and compared with the paper.
struct Merged {
  Results results;
  Manifest manifest;  // sums over the points; the caller fills in argv and times
  std::vector<int> done;
  std::vector<int> missing;           // points neither done nor failed
  std::vector<DamagedPoint> damaged;  // those of the missing points that have changed files
};
Merged merge_points(const Plan& plan, const std::filesystem::path& directory);

// Writes the top level's data files unless they are up to date. Without a sweep, they are the point's own files.
void write_merged(const Plan& plan, const Merged& merged, const std::filesystem::path& directory);

// ---- checks that the files of a finished point are unchanged, by the sizes and checksums in its manifest ----

// The files of a results directory except the manifest, which marks it as one.
const std::vector<std::string>& result_names();

// Records of those that are in this directory, as they are now. Errors: InputError.
FileRecords records_of(const std::filesystem::path& directory);

// What does not agree with the records: "locks.csv is missing", "lines.csv has changed since it was written"; empty if all
// agrees.
std::string damage_of(const std::filesystem::path& directory, const FileRecords& records);

}  // namespace linebounce::sim
