#include "sim/commands/replay_study.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <CLI/CLI.hpp>

#include "sim/commands/common_options.hpp"
#include "sim/commands/run_report.hpp"
#include "sim/config/config_error.hpp"
#include "sim/config/load_experiment.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce {

namespace {

toml::table sweep_of(const ReplayStudy& study) {
  toml::table together;
  for (const auto& [path, values] : study.sweep) together.insert(path, values);
  return toml::table{{"together", toml::array{std::move(together)}}};
}

Overrides overrides_of(const ReplayStudy& study) {
  Overrides overrides;
  overrides.seed = study.seed;
  overrides.sets = split_sets(study.sets);
  if (!study.machine_tables) overrides.machine = study.machine;
  return overrides;
}

}  // namespace

Plan plan_of(const ReplayStudy& study) {
  toml::table experiment{
      {"name", study.name},
      {"title", study.title},
      {"workload", toml::table{{"name", "replay"}, {"trace", std::filesystem::absolute(study.trace).string()}}}};
  if (study.machine_tables) experiment.insert("machine", *study.machine_tables);
  if (!study.sweep.empty()) experiment.insert("sweep", sweep_of(study));
  return make_plan(read_experiment(to_toml(experiment) + "\n" + study.layout_changes, study.name, overrides_of(study)));
}

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

std::string recorded_machine(const trace::Reader& reader) {
  if (!reader.summary().machine.empty()) return reader.summary().machine;
  throw ConfigError(
      fmt::format("--machine is missing: {} was not recorded on a simulated machine; `linebounce list machines` "
                  "shows which there are",
                  reader.file().string()));
}

double throughput_change_pct(const ReportedPoint& base, const ReportedPoint& changed) {
  const double before = metric_of(base, kThroughput);
  return before == 0 ? 0 : 100 * (metric_of(changed, kThroughput) / before - 1);
}

double metric_of(const ReportedPoint& point, const std::string& name) {
  const auto found = point.metrics.find(name);
  return found == point.metrics.end() ? 0 : as_double(found->second.value);
}

double transfers_of(const ReportedPoint& point) {
  double sum = 0;
  for (const char* source : {"local_c2c", "remote_c2c", "upgrade"})
    sum += metric_of(point, fmt::format("latency.{}.count", source));
  return sum;
}

}  // namespace linebounce
