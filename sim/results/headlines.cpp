#include "sim/results/headlines.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "workloads/workload_registry.hpp"

namespace linebounce::sim {
namespace {

using workloads::Headline;

// The units of all metrics that at least half of the points have. A rarer metric says nothing about the sweep as a whole.
std::map<std::string, std::string> units_of_most(const std::vector<ReportedPoint>& points) {
  std::map<std::string, std::size_t> points_with;
  std::map<std::string, std::string> units;
  std::size_t finished = 0;
  for (const ReportedPoint& point : points) {
    if (!point.metrics.empty()) ++finished;
    for (const auto& [name, metric] : point.metrics) {
      ++points_with[name];
      units[name] = metric.unit;
    }
  }
  std::erase_if(units, [&](const auto& unit) { return 2 * points_with[unit.first] < finished; });
  return units;
}

std::vector<Headline> declared_by(const std::string& workload) {
  for (const workloads::WorkloadEntry& entry : workloads::all_workloads()) {
    if (entry.name == workload) return entry.headlines;
  }
  return {};
}

// Derives a label from a name: "walk mean" from "tasklist.walk_mean_us".
std::string label_of(const std::string& name, const std::string& unit) {
  std::string label = name.substr(name.find('.') + 1);
  const std::string suffix = unit == "%" ? "_pct" : unit == "1/s" ? "_per_s" : "_" + unit;
  if (label.ends_with(suffix)) label.erase(label.size() - suffix.size());
  std::replace_if(
      label.begin(), label.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
  return label;
}

// The names, sorted by group, and alphabetically within a group.
std::vector<std::string> by_group(const std::map<std::string, std::string>& units) {
  std::vector<std::pair<MetricGroup, std::string>> names;
  for (const auto& [name, unit] : units) names.emplace_back(metric_group(name), name);
  std::ranges::sort(names);
  std::vector<std::string> sorted;
  for (auto& [group, name] : names) sorted.push_back(std::move(name));
  return sorted;
}

// False for a metric that is declared as a detail.
bool may_be_headline(const std::string& name) {
  const MetricDeclaration* declared = find_metric(name);
  return declared == nullptr || declared->headline;
}

}  // namespace

std::vector<HeadlineMetric> headlines_of(const std::string& workload, const std::vector<ReportedPoint>& points) {
  const std::map<std::string, std::string> units = units_of_most(points);
  std::vector<HeadlineMetric> chosen;
  std::set<std::string> taken;
  const auto take = [&](const std::string& name, const std::string& label) {
    const auto unit = units.find(name);
    if (chosen.size() == kMostHeadlines || unit == units.end() || !taken.insert(name).second) return;
    chosen.push_back(headline_of(name, unit->second, label));
  };
  for (const Headline& headline : declared_by(workload)) take(headline.metric, headline.label);
  if (chosen.size() == kMostHeadlines) return chosen;
  for (const std::string& name : by_group(units)) {
    if (chosen.size() < kMostHeadlines && may_be_headline(name)) take(name, "");
  }
  return chosen;
}

bool is_mean_over_misses(std::string_view metric) {
  return metric.starts_with("latency.") && metric.ends_with(".mean_ns");
}

HeadlineMetric headline_of(const std::string& name, const std::string& unit, const std::string& label) {
  const MetricDeclaration* declared = find_metric(name);
  return {name, label.empty() ? label_of(name, unit) : label, unit, declared == nullptr ? Better::neither : declared->better};
}

}  // namespace linebounce::sim
