// `linebounce validate EXPERIMENT --against FILE.csv`: a user's own measurements, each beside its simulated figure.
#pragma once

#include <string>

#include "sim/config/experiment.hpp"
#include "sim/plan/run_plan.hpp"

namespace linebounce::sim {

struct AgainstArguments {
  std::string measured;    // the CSV file
  std::string experiment;  // a name or a path
  std::string machine;     // instead of the experiment's; empty: the experiment's
  bool json = false;
};

// The experiment with a point for each combination of settings in the file, and a paper row for each measured figure. Errors:
// ConfigError with the file's line.
Experiment experiment_against(const AgainstArguments& arguments);

// Runs it and prints the table. `options.directory`: the folder for the results directory. The exit code is check_failed if a
// figure is off a tolerance that the file states.
ExitCode validate_against(const AgainstArguments& arguments, RunOptions options);

}  // namespace linebounce::sim
