#include "sim/replay/replay_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "sim/config/load_experiment.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/numbers.hpp"
#include "sim/statistics/source_names.hpp"

namespace linebounce::sim {
namespace {

toml::table sweep_of(const ReplayStudy& study) {
  toml::table together;
  for (const auto& [path, values] : study.sweep) together.insert(path, values);
  return toml::table{{"together", toml::array{std::move(together)}}};
}

Overrides overrides_of(const ReplayStudy& study) {
  Overrides overrides;
  overrides.native = true;  // locks in C can only come from the user's command line, because the trace's own locks are replaced
  overrides.seed = study.seed;
  overrides.sets = split_sets(study.sets);
  overrides.options = study.options;
  if (!study.machine_tables) overrides.machine = study.machine;
  return overrides;
}

int cpus_of(const std::string& machine) {
  return load_machine(machine).spec.cpus;
}

// The machines that have a CPU for each thread.
std::vector<std::string> with_cpus(std::vector<std::string> machines, std::size_t threads) {
  std::erase_if(machines, [&](const std::string& machine) { return std::cmp_less(cpus_of(machine), threads); });
  return machines;
}

// Answers and their folders know machines by their names.
void require_different_names(const std::vector<std::string>& machines) {
  if (machines.size() < 2) return;
  std::map<std::string, std::string> by_name;
  for (const std::string& machine : machines) {
    const std::string name = load_machine(machine).spec.name;
    const auto [known, is_new] = by_name.emplace(name, machine);
    if (!is_new)
      throw ConfigError(fmt::format("--machine: {} and {} are both called \"{}\"; each needs a `name` of its own in its file",
                                    known->second, machine, name));
  }
}

}  // namespace

Plan plan_of(const ReplayStudy& study) {
  toml::table experiment{{"name", study.name},
                         {"title", study.title},
                         {"workload", toml::table{{"name", "replay"}, {"trace", absolute_path(study.trace)}}}};
  if (study.machine_tables) experiment.insert("machine", *study.machine_tables);
  if (!study.sweep.empty()) experiment.insert("sweep", sweep_of(study));
  return make_plan(read_unexpanded(to_toml(experiment) + "\n" + study.layout_changes, study.name, overrides_of(study)));
}

std::string recorded_machine(const trace::Reader& reader) {
  if (!reader.summary().machine.empty()) return reader.summary().machine;
  throw ConfigError(
      fmt::format("--machine is required: {} was not recorded on a simulated machine; `linebounce list machines` "
                  "shows all",
                  reader.file().string()));
}

std::vector<std::string> machines_for(const std::vector<std::string>& given, const trace::Reader& reader,
                                      const std::vector<std::string>& sets) {
  require_different_names(given);
  if (!given.empty()) return given;
  if (!reader.summary().machine.empty()) return {reader.summary().machine};
  const std::vector<std::string> usual{kUsualMachines.begin(), kUsualMachines.end()};
  const bool chosen = std::ranges::any_of(
      sets, [](const std::string& set) { return set.starts_with("workload.threads=") || set.starts_with("machine.cpus="); });
  if (chosen) return usual;
  const std::size_t threads = reader.symbols().streams.size();
  std::vector<std::string> fitting = with_cpus(usual, threads);
  if (!fitting.empty()) return fitting;
  fitting = with_cpus(machine_names(), threads);
  if (fitting.empty()) return usual;
  return {*std::ranges::min_element(fitting, {}, cpus_of)};
}

double metric_of(const ReportedPoint& point, const std::string& name) {
  const auto found = point.metrics.find(name);
  return found == point.metrics.end() ? 0 : as_double(found->second.value);
}

double run_us(const ReportedPoint& point) {
  const double per_s = metric_of(point, kThroughput);
  return per_s > 0 ? 1e6 * metric_of(point, "replay.operations") / per_s : 0;
}

double transfers_of(const ReportedPoint& point) {
  double sum = 0;
  for (const char* source : {"local_c2c", "remote_c2c", "upgrade"})
    sum += metric_of(point, fmt::format("latency.{}.count", source));
  return sum;
}

double misses_of(const ReportedPoint& point) {
  double sum = 0;
  for (const char* source : kSourceNames) sum += metric_of(point, fmt::format("latency.{}.count", source));
  return sum;
}

}  // namespace linebounce::sim
