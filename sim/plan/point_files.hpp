// The files of one point. A simulating process writes seed files, which are then merged into the point's results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/plan/results_json.hpp"
#include "sim/results/manifest.hpp"

namespace linebounce::sim {

// The function simulate(), or a test's replacement for it.
using Simulation = std::function<PointData(const SimulationInput&, const std::function<void(double)>& progress)>;

// Simulates a point with one seed, and writes the seed file. A worker process calls it.
void simulate_seed(const Simulation& simulation, const Plan& plan, int point, std::uint64_t seed,
                   const std::filesystem::path& point_directory, const std::function<void(double)>& progress);

// True if an earlier, interrupted run left a result for this seed.
bool seed_is_done(const Plan& plan, int point, std::uint64_t seed, const std::filesystem::path& point_directory);

// Merges the seed files into the point's results and deletes them. Returns the results as their file states them.
// `manifest`: what only the caller knows (argv, times). The manifest is written last: it marks the point as done. Errors:
// OutputError, InputError.
ReportedPoint finish_point(const Plan& plan, int point, const std::filesystem::path& point_directory, Manifest manifest);

// Records that a point failed, so that later merges know it.
void write_failed_point(const Plan& plan, const FailedPoint& failed, const std::filesystem::path& point_directory,
                        Manifest manifest);

// A point whose files were changed after its run wrote them.
struct DamagedPoint {
  int point = 0;
  std::string reason;
};

// The merged results of all finished points, compared with the paper.
struct Merged {
  Results results;
  Manifest manifest;  // totals over the points; the caller fills in argv and times
  std::vector<int> done;
  std::vector<int> missing;           // points neither done nor failed
  std::vector<DamagedPoint> damaged;  // those of the missing points whose files were changed
};
// Merges what finish_point() has returned in this process, by point, and reads the results of all other points.
using FinishedPoints = std::map<int, ReportedPoint>;
Merged merge_points(const Plan& plan, const std::filesystem::path& directory, const FinishedPoints& finished = {});

// Writes the data files of the results directory itself unless they are up to date. Without a sweep, these are the point's own
// files.
void write_merged(const Plan& plan, const Merged& merged, const std::filesystem::path& directory);

// ---- comparing the files of a finished point with the sizes and checksums in its manifest ----

// The names of all files in a results directory except the manifest.
const std::vector<std::string>& result_names();

// Sizes and checksums of the result files that the directory has now. Errors: InputError.
FileRecords records_of(const std::filesystem::path& directory);

// How files differ from their records: "locks.csv is missing", "lines.csv has changed since it was written". Empty if all
// agree.
std::string damage_of(const std::filesystem::path& directory, const FileRecords& records);

}  // namespace linebounce::sim
