// Runs a plan into a results directory: resumes an earlier run, and merges the results. However this process ends, the same
// command resumes the run.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/plan/exit_code.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/point_files.hpp"
#include "sim/plan/results_json.hpp"
#include "sim/results/manifest.hpp"
#include "sim/simulation/simulate.hpp"

namespace linebounce::sim {

struct Progress {
  int points = 0;
  int points_done = 0;  // includes points that earlier runs completed
  double share = 0;     // finished share of the run's CPU time, estimated from finished points
  double elapsed_s = 0;
  // The answer so far, from finished points. Set only after 10, 20, 40, ... seconds, and only if it has changed; else empty.
  std::string answer = {};
};

// What becomes of results that the directory holds already.
enum class EarlierResults {
  used,       // finished points of the same configuration; others are refused
  replaced,   // deleted
  set_aside,  // moved into a new neighbour of the directory, DIRECTORY.1 or the next number that is free
};

struct RunOptions {
  std::filesystem::path directory;
  std::filesystem::path root = {};  // the command's own directory, if `directory` lies below it
  int at_once = 1;                  // simultaneous simulations
  EarlierResults earlier = EarlierResults::used;
  // Told where results were set aside: the directory, and its neighbour.
  std::function<void(const std::filesystem::path&, const std::filesystem::path&)> set_aside = {};
  bool unchecked = false;         // run locks from files without the check of lock_gate.hpp
  std::vector<std::string> argv;  // for the manifest
  std::function<void(const Progress&)> progress = {};
  // Called at most once, with the points to run and the seconds that they are expected to take, if these are many: before the
  // run, or in its first seconds if nothing told before.
  std::function<void(std::size_t, double)> foretell = {};
  double first_answer_s = 10;        // seconds until Progress has its first answer
  Simulation simulation = simulate;  // replaced by tests
};

struct PointFailure {
  int point = 0;
  Failure failure;  // with its complete text
};

struct RunReport {
  ExitCode code = ExitCode::done;
  Results results;
  std::vector<PointFailure> failures;
  std::vector<int> missing;           // points that did not run to their end
  std::vector<DamagedPoint> damaged;  // points that ran again because their files were changed
  int reused = 0;                     // number of points whose earlier results were used
  std::string reused_commit;          // the commit that made reused results, if it differs from this program's
};

// Runs all points. If one fails, the report says so and the others still run. Errors: ConfigError, OutputError.
RunReport run_plan(const Plan& plan, const RunOptions& options);

// Runs one point without merging, for a program that distributes points over computers. The report has no results.
RunReport run_one_point(const Plan& plan, int point, const RunOptions& options);

// The points that a run into this directory would reuse. The directory need not exist. Errors: ConfigError for a directory that
// such a run would refuse.
std::vector<int> done_points(const Plan& plan, const std::filesystem::path& directory);

// Merges existing results, and lists missing ones in the report. If earlier results are not to be used, merges nothing: leaves
// the directory as at the start of a run. Errors: InputError if the directory does not exist.
RunReport merge_plan(const Plan& plan, const RunOptions& options);

}  // namespace linebounce::sim
