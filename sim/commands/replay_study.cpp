#include "sim/commands/replay_study.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

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
  for (const auto& [path, values] : study.sweep) {
    toml::array list;
    for (const std::string& value : values) list.push_back(value);
    together.insert(path, std::move(list));
  }
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
  if (report.code != ExitCode::done) return std::nullopt;
  return report.results.points;
}

std::vector<std::string> machines_or_recorded(const std::vector<std::string>& given, const trace::Reader& reader) {
  if (!given.empty()) return given;
  if (!reader.summary().machine.empty()) return {reader.summary().machine};
  throw ConfigError(
      fmt::format("--machine is missing: {} was not recorded on a simulated machine; `linebounce list machines` "
                  "shows which there are",
                  reader.file().string()));
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
