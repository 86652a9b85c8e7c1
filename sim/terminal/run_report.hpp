// What `run` and `reproduce` show while and after they run a plan.
#pragma once

#include <filesystem>
#include <string>

#include "sim/plan/run_plan.hpp"

namespace linebounce::sim {

// Cores that this process may use.
int available_cores();

// Whether there is nothing to show: all points have failed, or none was run.
bool nothing_finished(const RunReport& report);

// run_plan() with a progress line on the standard error, if `show`.
RunReport run_with_progress(const Plan& plan, RunOptions options, const std::string& label, bool show);

// The failures' texts and what is missing, on the standard error.
void print_failures(const Plan& plan, const RunReport& report, const std::filesystem::path& directory);

// What of the report is wanted beyond what matters most.
struct ReportView {
  std::string point = {};    // by its settings; empty: the one that the answer speaks of
  bool all_points = false;   // every alternative's rows, of however many
  bool all_metrics = false;  // every metric of every point
};

// On the standard output: the answer, the figures, then what they rest on, then where the files are.
void print_report(const Plan& plan, const RunReport& report, const std::filesystem::path& directory,
                  const ReportView& wanted = {});

// On the standard output, after a run of one point alone.
void print_point(const Plan& plan, int point, const RunReport& report, const std::filesystem::path& directory);

}  // namespace linebounce::sim
