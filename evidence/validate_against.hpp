// `linebounce validate EXPERIMENT --against FILE.csv`: compares a user's measurements with simulated figures.
#pragma once

#include <string>

#include "sim/config/experiment.hpp"
#include "sim/plan/run_plan.hpp"

namespace linebounce::sim {

struct AgainstArguments {
  std::string measured;    // the CSV file
  std::string experiment;  // a name or a path
  std::string machine;     // replaces the experiment's machine; empty: no replacement
  bool json = false;
};

// The experiment, extended by a point for each combination of settings in the file and a paper row for each measured figure.
// Errors: ConfigError, with the file's line.
Experiment experiment_against(const AgainstArguments& arguments);

// Runs the experiment and prints the table. `options.directory`: parent of the results directory. Returns check_failed if a
// figure is outside a tolerance that the file states.
ExitCode validate_against(const AgainstArguments& arguments, RunOptions options);

}  // namespace linebounce::sim
