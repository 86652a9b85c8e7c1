#include <fmt/format.h>

#include "commands/describe/named_kinds.hpp"
#include "models/text/visible.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/results_json.hpp"
#include "sim/results/numbers.hpp"
#include "sim/terminal/paper_table.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

Plan plan_of(const std::string& name) {
  return make_plan(load_unexpanded(name, {}));
}

std::string values_text(const std::vector<ConfigValue>& values) {
  std::string text;
  for (const ConfigValue& value : values) text += (text.empty() ? "" : ", ") + value_text(value);
  return text;
}

void add_sweep(Table& facts, const std::vector<SweepAxis>& axes) {
  for (const SweepAxis& axis : axes) {
    for (std::size_t i = 0; i < axis.paths.size(); ++i) {
      facts.add({{i > 0 ? "together" : "sweep", Colour::dim}, axis.paths[i] + " = " + values_text(axis.values[i])});
    }
  }
}

std::string wanted_text(const PaperRow& row) {
  if (row.metrics.size() > 1) return fmt::format("{} metrics that rise", row.metrics.size());
  if (row.shape != Shape::none) return to_string(row.shape) + " over " + row.over;
  if (row.is_sign_alone()) return std::string(to_string(*row.sign));
  return published_value(row, "");
}

std::string paper_text(const std::vector<PaperRow>& rows, const Painter& paint) {
  if (rows.empty()) return "";
  Table table({names("paper row"), figures("paper", 0, 2), words("kind", 0, 3)}, paint);
  for (const PaperRow& row : rows) table.add({row.id, wanted_text(row), name_of(row.kind)});
  return "\n" + table.text();
}

ordered_json paper_row_json(const PaperRow& row) {
  ordered_json out;
  out["id"] = row.id;
  out["metrics"] = row.metrics;
  out["paper"] = row.value ? number_to_json(*row.value) : ordered_json(nullptr);
  if (row.shape != Shape::none) out["shape"] = to_string(row.shape);
  if (row.sign) out["sign"] = to_string(*row.sign);
  out["kind"] = to_string(row.kind);
  out["source"] = row.source;
  return out;
}

}  // namespace

std::string experiment_page(const std::string& name, const Painter& paint) {
  const Plan plan = plan_of(name);
  const Experiment& experiment = plan.experiment;
  Table facts = labelled(12, paint);
  facts.add({{"machine", Colour::dim}, experiment.machine_name});
  facts.add({{"workload", Colour::dim}, plan.make_point(0).input.workload});
  add_sweep(facts, experiment.sweep);
  const std::string runs = experiment.seeds > 1 ? fmt::format("{} seeds each, from {}", experiment.seeds, experiment.seed)
                                                : fmt::format("seed {}", experiment.seed);
  facts.add({{"points", Colour::dim}, fmt::format("{}, {}", plan.points.size(), runs)});
  return paint(Colour::bold, experiment.name) + "  " + visible_name(experiment.title) + "\n\n" + facts.text() +
         paper_text(experiment.paper, paint);
}

ordered_json experiment_json(const std::string& name) {
  const Plan plan = plan_of(name);
  const Experiment& experiment = plan.experiment;
  ordered_json sweep = ordered_json::object();
  for (const SweepAxis& axis : experiment.sweep) {
    for (std::size_t i = 0; i < axis.paths.size(); ++i) {
      ordered_json& values = sweep[axis.paths[i]] = ordered_json::array();
      for (const ConfigValue& value : axis.values[i]) values.push_back(value_to_json(value));
    }
  }
  ordered_json out;
  out["name"] = experiment.name;
  out["title"] = experiment.title;
  out["machine"] = experiment.machine_name;
  if (!experiment.family.empty()) out["family"] = experiment.family;
  out["workload"] = plan.make_point(0).input.workload;
  out["seed"] = experiment.seed;
  out["seeds"] = experiment.seeds;
  out["points"] = plan.points.size();
  out["hash"] = plan.hash;
  out["sweep"] = std::move(sweep);
  out["paper"] = ordered_json::array();
  for (const PaperRow& row : experiment.paper) out["paper"].push_back(paper_row_json(row));
  return out;
}

}  // namespace linebounce::sim
