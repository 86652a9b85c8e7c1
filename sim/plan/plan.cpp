#include "sim/plan/plan.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/plan/protocol_pairs.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

// Finds a row's points. If the command line overrides settings, the points may be missing; otherwise a missing point is an
// error in the file.
PaperPoints points_of(const PaperRow& row, const Plan& plan) {
  if (!plan.experiment.overridden) return select_points(row, plan.points);
  try {
    return select_points(row, plan.points);
  } catch (const ConfigError&) {
    return {};
  }
}

// Records what the plan needs to know about a point before it runs.
void note(const Point& point, Plan& plan) {
  const MachineSpec& machine = point.input.machine;
  plan.hashes[point.number] = configuration_hash(point.resolved);
  if (point.number == 0) plan.subject = subject_of(point);
  ProtocolNames names{machine.bus.protocol, {}, {}};
  if (machine.has_nodes()) {
    names.node = machine.node.protocol;
    names.directory = machine.directory.protocol;
  }
  if (plan.protocols.insert(std::move(names)).second) require_fitting_protocols(point.input);
  for (const SourceFile& file : point.input.lock_files) {
    Plan::LockFile& used = plan.lock_files[file.path];
    used.source = file;
    used.consistencies.insert(machine.cpu.consistency);
  }
  if (point.input.trace.empty()) return;
  std::vector<std::string>& assumptions = plan.experiment.assumptions;
  if (!point.assumption.empty() && std::ranges::find(assumptions, point.assumption) == assumptions.end())
    assumptions.push_back(point.assumption);
  bool& sound = plan.traces[point.input.trace];
  sound = sound || !point.input.parameters.flag("recover");
}

std::vector<int> selected(const std::map<std::string, ConfigValue>& wanted, const std::vector<PointPlace>& points) {
  std::vector<int> numbers;
  for (const PointPlace& point : points) {
    if (lies_at(point, wanted)) numbers.push_back(point.number);
  }
  return numbers;
}

std::string at_text(const std::map<std::string, ConfigValue>& at) {
  std::string text = "{";
  for (const auto& [path, value] : at) text += (text.size() > 1 ? ", " : " ") + path + " = " + value_text(value);
  return text + (at.empty() ? "}" : " }");
}

// Checks that a shape's points differ only in `over`. If two of them have the same value there, `at` does not fix another axis.
void require_one_axis(const PaperRow& row, const std::vector<int>& numbers, const std::vector<PointPlace>& points) {
  std::vector<ConfigValue> seen;
  for (const int number : numbers) {
    for (const auto& entry : points[number].at) {
      if (entry.first != row.over) continue;
      const ConfigValue& value = entry.second;
      if (std::ranges::any_of(seen, [&](const ConfigValue& other) { return same_value(other, value); })) {
        throw ConfigError("paper row " + row.id + ": at = " + at_text(row.at) + " selects several points with " + row.over +
                          " = " + value_text(value) + "; name the other swept keys in `at`");
      }
      seen.push_back(value);
    }
  }
  if (seen.size() != numbers.size() || seen.size() < 2) {
    throw ConfigError("paper row " + row.id + ": a shape needs at least two points along over = \"" + row.over +
                      "\", which must be a swept key; at = " + at_text(row.at) + " selects " + std::to_string(numbers.size()));
  }
}

std::vector<int> require_one(const PaperRow& row, const char* key, const std::map<std::string, ConfigValue>& at,
                             const std::vector<PointPlace>& points) {
  std::vector<int> numbers = selected(at, points);
  if (numbers.size() != 1) {
    throw ConfigError("paper row " + row.id + ": " + key + " = " + at_text(at) + " selects " + std::to_string(numbers.size()) +
                      " of the " + std::to_string(points.size()) + " points; it must select one");
  }
  return numbers;
}

}  // namespace

ResultsSubject subject_of(const Point& point) {
  return {point.input.workload, point.input.machine.cpus};
}

Plan make_plan(Experiment experiment, const std::optional<std::vector<int>>& only) {
  Plan plan;
  plan.points = outline(experiment);
  plan.hashes.resize(plan.points.size());
  plan.make_point = point_maker(experiment);
  plan.experiment = std::move(experiment);
  if (only) {
    for (const int number : *only) note(plan.make_point(number), plan);
  } else {
    for (const PointPlace& point : plan.points) note(plan.make_point(point.number), plan);
  }
  // Without a sweep, the experiment and its only point share their files, and so must share their hash.
  plan.hash = plan.swept() ? configuration_hash(plan.experiment.resolved) : plan.hashes.front();
  for (const PaperRow& row : plan.experiment.paper) plan.paper.push_back(points_of(row, plan));
  return plan;
}

std::string plan_text(const Plan& plan, const std::optional<std::vector<int>>& done) {
  using nlohmann::ordered_json;
  ordered_json points = ordered_json::array();
  for (const PointPlace& point : plan.points) {
    ordered_json entry;
    entry["point"] = point.number;
    entry["at"] = at_to_json(point.at);
    entry["hash"] = plan.hashes[point.number];
    points.push_back(std::move(entry));
  }
  ordered_json out;
  out["schema"] = "linebounce.plan/1";
  out["experiment"] = plan.experiment.name;
  out["machine"] = plan.experiment.machine_name;
  out["seed"] = plan.experiment.seed;
  out["seeds"] = plan.experiment.seeds;
  out["hash"] = plan.hash;
  out["points"] = std::move(points);
  if (done) out["done"] = *done;
  return out.dump(1) + "\n";
}

std::vector<PaperResult> evaluate_paper(const Plan& plan, const std::vector<ReportedPoint>& points) {
  std::vector<PaperResult> results;
  for (std::size_t i = 0; i < plan.paper.size(); ++i) {
    results.push_back(evaluate(plan.experiment.paper[i], plan.paper[i], points, !plan.experiment.overridden));
  }
  return results;
}

std::string point_name(const Plan& plan, int number) {
  if (!plan.swept()) return "the run";
  std::string text = "point " + std::to_string(number) + " (";
  const auto& at = plan.points[number].at;
  for (std::size_t i = 0; i < at.size(); ++i) text += (i > 0 ? ", " : "") + at[i].first + " = " + value_text(at[i].second);
  return text + ")";
}

PaperPoints select_points(const PaperRow& row, const std::vector<PointPlace>& points) {
  PaperPoints where;
  if (row.shape != Shape::none && !row.is_order()) {
    where.at = selected(row.at, points);
    require_one_axis(row, where.at, points);
  } else {
    where.at = require_one(row, "at", row.at, points);
  }
  if (row.relative_to) where.relative_to = require_one(row, "relative_to", *row.relative_to, points);
  return where;
}

}  // namespace linebounce::sim
