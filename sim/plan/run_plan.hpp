// Runs a plan into a results directory: resumes an earlier run, and merges. However this process ends, the same command resumes
// from the directory.
#pragma once

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
  int points_done = 0;  // including those that were there already
  double share = 0;     // share of this run's CPU time, estimated from the finished points
  double elapsed_s = 0;
  std::string answer = {};  // the answer from the finished points, if it is new, at 10, 20, 40, ... seconds; else empty
};

struct RunOptions {
  std::filesystem::path directory;
  int at_once = 1;  // simultaneous simulations
  bool fresh = false;
  bool unchecked = false;         // use locks from files without the check of lock_gate.hpp
  std::vector<std::string> argv;  // for the manifest
  std::function<void(const Progress&)> progress = {};
  double first_answer_s = 10;        // the time of the first answer in Progress
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
  std::vector<int> missing;           // points that were not run, or not to their end
  std::vector<DamagedPoint> damaged;  // points that were done but whose files have changed: they are run again
  int reused = 0;                     // number of points whose results were there already
  std::string reused_commit;          // the commit of the program that made them, if it differs
};

// Runs all points. Errors: ConfigError, OutputError. A simulation that fails is in the report, and the other points run.
RunReport run_plan(const Plan& plan, const RunOptions& options);

// Runs one point, for a program that distributes points over machines; merges nothing. Its report has no results.
RunReport run_one_point(const Plan& plan, int point, const RunOptions& options);

// The points that a run into this directory, which need not exist, would not run again. Errors: ConfigError for a directory
// that such a run would refuse.
std::vector<int> done_points(const Plan& plan, const std::filesystem::path& directory);

// Only merges existing results; with `fresh`, none: it leaves the directory as before the start of a run. The report lists what
// is missing. Errors: InputError if there is no such directory.
RunReport merge_plan(const Plan& plan, const RunOptions& options);

}  // namespace linebounce::sim
