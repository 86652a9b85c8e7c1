// Running experiments for the sake of their [[paper]] rows: what `reproduce` and `validate` have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/plan/run_plan.hpp"

namespace linebounce::sim {

// An experiment to run, and which of its rows are asked for.
struct ChosenRows {
  Experiment experiment;
  std::vector<std::string> prefixes;  // of row ids; "" for all
};

// The experiments in configs/experiments that have rows and that `wanted` takes by their names.
std::vector<Experiment> experiments_with_rows(const std::function<bool(const std::string&)>& wanted);

// Whether `validate` has it: experiments in latencies/ and validation/.
bool is_validation(const std::string& experiment);

// Those that the words name, by the experiment's name or by what ids of rows begin with. Errors: ConfigError for a word that
// names nothing.
std::vector<ChosenRows> choose_rows(std::vector<Experiment> experiments, const std::vector<std::string>& words);

struct RowsRun {
  Plan plan;
  std::filesystem::path directory;
  RunReport report;
  std::vector<PaperResult> rows;  // those that were asked for
};

// Runs it into DIRECTORY/NAME, or goes on there. `place`: how far the command has come, for the progress line. `code` becomes
// the larger exit code.
RowsRun run_rows(const ChosenRows& chosen, const std::string& place, RunOptions options, ExitCode& code);

}  // namespace linebounce::sim
