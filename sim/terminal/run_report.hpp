// What `run` and `reproduce` print while a plan runs and after it.
#pragma once

#include <filesystem>
#include <string>

#include "sim/plan/run_plan.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// The number of cores that this process may use.
int available_cores();

// True if all points have failed, or no point was run.
bool nothing_finished(const RunReport& report);

// RunOptions::set_aside: says so on standard error.
void tell_set_aside(const std::filesystem::path& directory, const std::filesystem::path& kept);

// Calls run_plan(). If `show`, prints a progress line to standard error.
RunReport run_with_progress(const Plan& plan, RunOptions options, const std::string& label, bool show);

// Prints to standard error: why points failed, which earlier results are damaged, and which points have not run.
void print_failures(const Plan& plan, const RunReport& report, const std::filesystem::path& directory);

// Additional parts of the report that the user asked for.
struct ReportView {
  std::string point = {};    // settings of the point to report on; empty: the answer's point
  bool all_points = false;   // show the rows of all alternatives, not only of the important ones
  bool all_metrics = false;  // every metric of every point
};

// What limits a verdict from the traces that the plan replays, to be printed first; empty for a plan without traces.
std::string limits_of_traces(const Plan& plan, const Painter& paint);

// Prints to standard output: the answer, the figures, what they are based on, and where the result files are.
void print_report(const Plan& plan, const RunReport& report, const std::filesystem::path& directory,
                  const ReportView& wanted = {});

// Prints to standard output whether the point was run now or before, and where its results are.
void print_point(const Plan& plan, int point, const RunReport& report, const std::filesystem::path& directory);

}  // namespace linebounce::sim
