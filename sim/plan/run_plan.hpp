// Runs a plan into a results directory. Resumes an earlier run, and merges the results. However this process ends, the same
// command resumes the run.
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
  int points_done = 0;  // includes points that were already done
  double share = 0;     // share of this run's CPU time, estimated from the finished points
  double elapsed_s = 0;
  // The answer from the finished points; only at 10, 20, 40, ... seconds and if it has changed, otherwise empty.
  std::string answer = {};
};

struct RunOptions {
  std::filesystem::path directory;
  int at_once = 1;  // simultaneous simulations
  bool fresh = false;
  bool unchecked = false;         // use locks from files without the check of lock_gate.hpp
  std::vector<std::string> argv;  // for the manifest
  std::function<void(const Progress&)> progress = {};
  double first_answer_s = 10;        // when Progress first has an answer, in seconds
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
  std::vector<int> missing;           // points that were not run to their end
  std::vector<DamagedPoint> damaged;  // points that were done, but are run again because their files have changed
  int reused = 0;                     // number of points whose results were reused
  std::string reused_commit;          // the commit of the program that made the reused results, if it differs
};

// Runs all points. If a simulation fails, the report says so, and the other points run. Errors: ConfigError, OutputError.
RunReport run_plan(const Plan& plan, const RunOptions& options);

// Runs one point, and merges nothing; for a program that distributes points over computers. The report has no results.
RunReport run_one_point(const Plan& plan, int point, const RunOptions& options);

// The points that a run into this directory would not have to run again; the directory need not exist. Errors: ConfigError
// for a directory that such a run would refuse.
std::vector<int> done_points(const Plan& plan, const std::filesystem::path& directory);

// Only merges the results that exist. With `fresh` it merges nothing, and leaves the directory as at the start of a run. The
// report lists what is missing. Errors: InputError if the directory does not exist.
RunReport merge_plan(const Plan& plan, const RunOptions& options);

}  // namespace linebounce::sim
