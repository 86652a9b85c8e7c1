// Runs a plan into a results directory: goes on where an earlier run stopped, and merges. Whatever ends this process, the
// directory is left so that the same command goes on from there.
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
  int points_done = 0;  // those that were there already included
  double share = 0;     // of the CPU time that this run takes, as far as the points that are done foretell it
  double elapsed_s = 0;
  std::string answer = {};  // what the points that are done say, at 10, 20, 40, ... seconds if it is news; else empty
};

struct RunOptions {
  std::filesystem::path directory;
  int at_once = 1;  // simulations at the same time
  bool fresh = false;
  bool unchecked = false;         // uses locks from files as they are, without lock_gate.hpp
  std::vector<std::string> argv;  // for the manifest
  std::function<void(const Progress&)> progress = {};
  double first_answer_s = 10;        // the first answer of Progress comes after this time
  Simulation simulation = simulate;  // tests put their own here
};

struct PointFailure {
  int point = 0;
  Failure failure;  // with its whole text
};

struct RunReport {
  ExitCode code = ExitCode::done;
  Results results;
  std::vector<PointFailure> failures;
  std::vector<int> missing;           // points that were not run, or not to their end
  std::vector<DamagedPoint> damaged;  // points that were there already, but not as they had been written: they are run again
  int reused = 0;                     // points whose results were there already
  std::string reused_commit;          // the program that had made them, where it is another one
};

// All points. Errors: ConfigError, OutputError; a simulation that fails is in the report, and the other points run.
RunReport run_plan(const Plan& plan, const RunOptions& options);

// One point alone, for a program that hands out points to several machines; nothing is merged. Its report has no results.
RunReport run_one_point(const Plan& plan, int point, const RunOptions& options);

// The points that a run into this directory would not run again; it need not exist. Errors: ConfigError for a directory that
// such a run would refuse.
std::vector<int> done_points(const Plan& plan, const std::filesystem::path& directory);

// Only merges what is there, with `fresh` nothing: it leaves the directory as a run that has not begun. What is not there is in
// the report. Errors: InputError when there is no such directory.
RunReport merge_plan(const Plan& plan, const RunOptions& options);

}  // namespace linebounce::sim
