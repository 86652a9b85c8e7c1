#include "commands/common/family_range_runs.hpp"

#include <utility>

#include "sim/plan/family_range.hpp"
#include "sim/plan/family_range_file.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {

void add_family_range(const Plan& plan, RunOptions options, bool progress, RunReport& report) {
  if (report.code != ExitCode::done || !is_own_machine(plan.experiment.machine_name)) return;
  const std::optional<FamilyRange> range = family_range(plan, report.results);
  if (!range) return;
  RunOptions inner = options;
  inner.directory = options.directory / kFamilyRangeFolder;
  const auto earlier = manifest_in(inner.directory);
  const bool differs = earlier && earlier->hash != range->plan.hash;
  inner.earlier = differs ? EarlierResults::replaced : EarlierResults::used;
  const RunReport varied = run_with_progress(range->plan, inner, "the range of " + range->order.family, progress);
  report.code = larger(report.code, varied.code);
  if (varied.code != ExitCode::done) return print_failures(range->plan, varied, inner.directory);
  const std::string text = order_over_range(*range, varied.results.points);
  if (text.empty()) return;
  write_family_range(options.directory, plan.hash, text);
  options.earlier = EarlierResults::used;
  report.results = merge_plan(plan, options).results;
}

}  // namespace linebounce::sim
