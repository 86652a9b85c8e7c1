// What one point leaves in its directory, from the simulation's process to the finished files.
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

// simulate(), or what a test has in its place.
using Simulation = std::function<PointData(const SimulationInput&, const std::function<void(double)>& progress)>;

// In a process of its own: simulates one point with one of its seeds and writes the outcome to its seed file.
void simulate_seed(const Simulation& simulation, const Plan& plan, int point, std::uint64_t seed,
                   const std::filesystem::path& point_directory, const std::function<void(double)>& progress);

// Whether an earlier, interrupted run has left this seed's outcome.
bool seed_is_done(const Plan& plan, int point, std::uint64_t seed, const std::filesystem::path& point_directory);

// Merges the seed files into the point's results and deletes them. `manifest` holds what the caller knows (argv, times); the
// rest is filled in. The manifest is written last: with it the point is done. Errors: OutputError, InputError.
void finish_point(const Plan& plan, int point, const std::filesystem::path& point_directory, Manifest manifest);

// Notes that a point failed, so that a later merge knows it too.
void write_failed_point(const Plan& plan, const FailedPoint& failed, const std::filesystem::path& point_directory,
                        Manifest manifest);

// A point whose files are no longer as the run had written them.
struct DamagedPoint {
  int point = 0;
  std::string reason;
};

// All points, merged and held against the paper, from the directories of those that are done.
struct Merged {
  Results results;
  Manifest manifest;  // sums over the points; argv and times are the caller's
  std::vector<int> done;
  std::vector<int> missing;           // neither done nor failed
  std::vector<DamagedPoint> damaged;  // some of the missing
};
Merged merge_points(const Plan& plan, const std::filesystem::path& directory);

// Writes the top level's data files, if they are not so already. Without a sweep the point's own files are those.
void write_merged(const Plan& plan, const Merged& merged, const std::filesystem::path& directory);

// ---- whether the files of a finished point are still those that the run wrote: its manifest holds sizes and checksums ----

// The files of a results directory, but for the manifest, by which it is known as one.
const std::vector<std::string>& result_names();

// Those of them that are in this directory, as they are now. Errors: InputError.
FileRecords records_of(const std::filesystem::path& directory);

// What does not agree with the records: "locks.csv is missing", "lines.csv has changed since it was written"; empty if all
// does.
std::string damage_of(const std::filesystem::path& directory, const FileRecords& records);

}  // namespace linebounce::sim
