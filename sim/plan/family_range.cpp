#include "sim/plan/family_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/answer/what_varies.hpp"
#include "sim/config/contention.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/config/load_experiment.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/schema.hpp"
#include "sim/config/sweep.hpp"
#include "sim/results/headlines.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

constexpr std::int64_t kMostRangeSeeds = 3;

// Parameters that have no effect on cores with one thread.
const std::set<std::string>& sibling_paths() {
  static const std::set<std::string> paths = {"machine.cpu.shared_issue_pct", "machine.cpu.spinning_sibling_pct",
                                              "machine.cpu.pausing_sibling_pct"};
  return paths;
}

bool is_from_family(const Setting& setting, const std::string* source, const Family::Parameter& parameter,
                    const std::string& family) {
  if (setting.from == Setting::From::family) return true;
  // Every value of a resolved configuration is stated, even those of the family, so only its source tells.
  return setting.origin.given.empty() && source != nullptr && *source == family_source(parameter, family) &&
         setting.value == parameter.setting.value;
}

// The sweep's values for the wanted alternatives: those of `compared`, and of all paths that change together with it.
SweepAxis alternatives_of(const Plan& plan, const std::string& compared, const std::vector<ConfigValue>& wanted) {
  const auto axis = std::ranges::find_if(plan.experiment.sweep, [&compared](const SweepAxis& one) {
    return std::ranges::find(one.paths, compared) != one.paths.end();
  });
  SweepAxis chosen;
  if (axis == plan.experiment.sweep.end()) return chosen;
  chosen.paths = axis->paths;
  chosen.values.resize(axis->paths.size());
  const std::size_t path = static_cast<std::size_t>(std::ranges::find(axis->paths, compared) - axis->paths.begin());
  for (std::size_t i = 0; i < axis->values[path].size(); ++i) {
    if (std::ranges::find(wanted, axis->values[path][i]) == wanted.end()) continue;
    for (std::size_t other = 0; other < chosen.paths.size(); ++other) chosen.values[other].push_back(axis->values[other][i]);
  }
  return chosen;
}

// The changes as a sweep axis: for each changed path, its value in each change. The first change leaves all values as
// assumed.
SweepAxis changes_axis(const std::vector<FamilyChange>& changes) {
  SweepAxis axis;
  for (const FamilyChange& change : changes) {
    if (std::ranges::find(axis.paths, change.path) != axis.paths.end()) continue;
    axis.paths.push_back(change.path);
    std::vector<ConfigValue>& values = axis.values.emplace_back(1, change.assumed);
    for (const FamilyChange& row : changes) values.push_back(row.path == change.path ? row.other : change.assumed);
  }
  return axis;
}

std::vector<ConfigValue> alternatives_that_matter(const Answer& answer, const Results& results) {
  std::vector<ConfigValue> wanted = answer.featured;
  for (const std::optional<int>& number : {answer.point, answer.runner_up}) {
    if (!number) continue;
    const ConfigValue* value = value_at(results.points.at(static_cast<std::size_t>(*number)), answer.compared);
    if (value != nullptr && std::ranges::find(wanted, *value) == wanted.end()) wanted.push_back(*value);
  }
  return wanted;
}

Experiment reread(const toml::table& table) {
  return read_unexpanded(to_toml(table), "the range of the contention family", {});
}

}  // namespace

bool is_own_machine(const std::string& name) {
  return !shipped_file(kMachineFiles, name);
}

std::vector<FamilyChange> family_changes(const Experiment& experiment) {
  const ExperimentTables& tables = *experiment.tables;
  Settings settings = tables.settings;
  Family family = tables.machine.family;
  apply_contention(settings, tables.machine.keys, family);
  const bool alone = settings.at("machine.cpu.threads_per_core").value == ConfigValue{std::int64_t{1}};
  std::vector<FamilyChange> changes;
  for (const Family::Parameter& parameter : family.parameters) {
    const Setting& setting = settings.at(parameter.path);
    const std::string* source = source_of(tables.machine.sources, parameter.path);
    const KeyInfo& key = tables.machine.keys.require(parameter.path, setting.origin);
    if (!is_from_family(setting, source, parameter, family.name) || !has_effect(key, settings)) continue;
    if (alone && sibling_paths().contains(parameter.path)) continue;
    for (const ConfigValue& other : parameter.others) changes.push_back({parameter.path, setting.value, other});
  }
  return changes;
}

std::optional<FamilyRange> family_range(const Plan& plan, const Results& results) {
  const Answer& answer = results.answer;
  if (!answer.point || !answer.runner_up || answer.compared.empty() || answer.compared == kMachineAxis) return std::nullopt;
  SweepAxis alternatives = alternatives_of(plan, answer.compared, alternatives_that_matter(answer, results));
  if (alternatives.paths.empty() || alternatives.values.front().size() < 2) return std::nullopt;
  toml::table table = plan.make_point(*answer.point).resolved;
  for (const char* key : {"paper", "table", "report", "overridden"}) table.erase(key);
  table.insert_or_assign("title", plan.experiment.title + ": over the range of its contention family");
  table.erase("question");
  toml::table& run = *table["run"].as_table();
  run.insert_or_assign("seeds", std::min(run["seeds"].value_or(std::int64_t{1}), kMostRangeSeeds));
  FamilyRange range;
  range.metric = answer.metric;
  range.order.changes = family_changes(reread(table));
  std::erase_if(range.order.changes, [&alternatives](const FamilyChange& change) {
    return std::ranges::find(alternatives.paths, change.path) != alternatives.paths.end();
  });
  if (range.order.changes.empty()) return std::nullopt;
  range.order.family = table["machine"]["contention"].value_or(std::string{});
  const std::size_t named =
      static_cast<std::size_t>(std::ranges::find(alternatives.paths, answer.compared) - alternatives.paths.begin());
  for (const ConfigValue& value : alternatives.values[named])
    range.order.alternatives.push_back(alternative_name({answer.compared, alternatives.values[named]}, value));
  table.insert_or_assign("sweep", sweep_table({changes_axis(range.order.changes), std::move(alternatives)}));
  range.plan = make_plan(reread(table));
  return range;
}

std::string order_over_range(const FamilyRange& range, const std::vector<ReportedPoint>& points) {
  FamilyOrder order = range.order;
  const std::size_t width = order.alternatives.size();
  std::vector<RangeRow> rows(order.changes.size() + 1, RangeRow(width));
  for (std::size_t i = 0; i < std::min(points.size(), rows.size() * width); ++i) {
    const auto metric = points[i].metrics.find(range.metric);
    if (metric == points[i].metrics.end()) continue;
    rows[i / width][i % width] = RangeValue{as_double(metric->second.value), metric->second.ci95.value_or(0)};
    order.better = headline_of(range.metric, metric->second.unit).better;
  }
  order.assumed = std::move(rows.front());
  rows.erase(rows.begin());
  order.changed = std::move(rows);
  return family_order_text(order);
}

}  // namespace linebounce::sim
