// The files of one point: written by the process that simulates, then merged into finished results.
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

// the function simulate(), or a replacement in tests
using Simulation = std::function<PointData(const SimulationInput&, const std::function<void(double)>& progress)>;

// Runs in a process of its own: simulates one point with one of its seeds and writes the result to its seed file.
void simulate_seed(const Simulation& simulation, const Plan& plan, int point, std::uint64_t seed,
                   const std::filesystem::path& point_directory, const std::function<void(double)>& progress);

// True if an earlier, interrupted run has left this seed's result.
bool seed_is_done(const Plan& plan, int point, std::uint64_t seed, const std::filesystem::path& point_directory);

// Merges the seed files into the point's results and deletes them. `manifest` has what the caller knows (argv, times); this
// function fills in the rest. Writes the manifest last, which makes the point done. Errors: OutputError, InputError.
void finish_point(const Plan& plan, int point, const std::filesystem::path& point_directory, Manifest manifest);

// Records that a point failed, so that later merges know it.
void write_failed_point(const Plan& plan, const FailedPoint& failed, const std::filesystem::path& point_directory,
                        Manifest manifest);

// A point whose files have changed since its run wrote them.
struct DamagedPoint {
  int point = 0;
  std::string reason;
};

// The merged results of all finished points, compared with the paper.
struct Merged {
  Results results;
  Manifest manifest;  // sums over the points; the caller fills in argv and times
  std::vector<int> done;
  std::vector<int> missing;           // points neither done nor failed
  std::vector<DamagedPoint> damaged;  // which of the missing points have changed files
};
Merged merge_points(const Plan& plan, const std::filesystem::path& directory);

// Writes the top level's data files unless they are up to date. Without a sweep, they are the point's own files.
void write_merged(const Plan& plan, const Merged& merged, const std::filesystem::path& directory);

// ---- comparing the files of a finished point with the sizes and checksums in its manifest ----

// The names of all files in a results directory except the manifest.
const std::vector<std::string>& result_names();

// The present sizes and checksums of those of these files that the directory has. Errors: InputError.
FileRecords records_of(const std::filesystem::path& directory);

// How the files differ from the records: "locks.csv is missing", "lines.csv has changed since it was written"; empty if they
// agree.
std::string damage_of(const std::filesystem::path& directory, const FileRecords& records);

}  // namespace linebounce::sim
