// Runs experiments for their [[paper]] rows, for both `reproduce` and `validate`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/plan/run_plan.hpp"

namespace linebounce::sim {

// An experiment to run, and which of its rows were requested.
struct ChosenRows {
  Experiment experiment;
  std::vector<std::string> prefixes;  // prefixes of row ids; "" for all
};

// The experiments in configs/experiments that have [[paper]] rows and whose names `wanted` accepts.
std::vector<Experiment> experiments_with_rows(const std::function<bool(const std::string&)>& wanted);

// Whether the experiment belongs to `validate`: it is in latencies/ or validation/.
bool is_validation(const std::string& experiment);

// The row's machine. In a sweep over machines each row has its own.
std::string machine_of_row(const PaperRow& row, const Experiment& experiment);

// Chooses experiments and rows by words: each is an experiment's name or a prefix of row ids. Errors: ConfigError for a word
// that matches nothing.
std::vector<ChosenRows> choose_rows(std::vector<Experiment> experiments, const std::vector<std::string>& words);

// Says how long the runs of several experiments take together, if they take long; none of them then says it for itself. Leaves
// out what the directory has already. Returns false if interrupted.
bool foretell_runs(const std::vector<ChosenRows>& chosen, RunOptions& options);

struct RowsRun {
  Plan plan;
  std::filesystem::path directory;
  RunReport report;
  std::vector<PaperResult> rows;  // the requested rows
};

// Runs the experiment in DIRECTORY/NAME, or resumes an interrupted run there. `place`: position among all experiments, for the
// progress line. Raises `code` to the run's exit code if that is larger.
RowsRun run_rows(const ChosenRows& chosen, const std::string& place, RunOptions options, ExitCode& code);

}  // namespace linebounce::sim
