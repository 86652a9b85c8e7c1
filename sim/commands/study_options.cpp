#include "sim/commands/study_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sim/commands/common_options.hpp"
#include "sim/plan/output_directory.hpp"

namespace linebounce::sim {

std::optional<std::vector<ReportedPoint>> run_study(const Plan& plan, RunOptions options, ExitCode& code) {
  const auto earlier = manifest_in(options.directory);
  options.fresh = earlier && earlier->hash != plan.hash;
  const RunReport report = run_with_progress(plan, options, plan.experiment.name, true);
  print_failures(plan, report, options.directory);
  code = larger(code, report.code);
  if (report.code == ExitCode::interrupted || nothing_finished(report)) return std::nullopt;
  return report.results.points;
}

void add_study_options(CLI::App& command, StudyArguments& arguments, const std::string& folder) {
  command.add_option("TRACE", arguments.trace, "A trace, binary or text")->type_name("")->required();
  command.add_option("--set", arguments.sets, "Override a parameter of the machine or the replay")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command.add_option("-o,--output", arguments.directory, fmt::format("Folder for the results; default: {}/TRACE", folder))
      ->type_name("DIR");
  add_jobs(command, arguments.at_once);
  command.add_flag("--json", arguments.json, "Print one JSON object instead of tables");
  command.parse_complete_callback([&arguments, folder] {
    const std::filesystem::path trace = arguments.trace;
    if (arguments.directory.empty()) arguments.directory = (std::filesystem::path(folder) / trace.stem()).string();
  });
}

RunOptions run_options(const StudyArguments& arguments, const std::filesystem::path& directory,
                       const std::vector<std::string>& argv) {
  RunOptions options;
  options.directory = directory;
  options.at_once = arguments.at_once;
  options.argv = argv;
  return options;
}

}  // namespace linebounce::sim
