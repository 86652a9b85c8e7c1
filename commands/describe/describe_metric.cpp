#include "commands/describe/named_kinds.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/metrics.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

// Finds a metric by its name in results, or by a declared pattern.
const MetricDeclaration& metric_called(const std::string& name) {
  if (const MetricDeclaration* metric = find_metric(name)) return *metric;
  std::vector<std::string> known;
  for (const MetricDeclaration& metric : all_metrics()) known.emplace_back(metric.pattern);
  throw ConfigError("metric " + not_known(name, known, "linebounce list metrics"));
}

ordered_json details(const MetricDeclaration& metric) {
  return {{"unit", metric.unit},
          {"group", to_string(metric_group(metric.pattern))},
          {"better", metric.better == Better::neither ? ordered_json(nullptr) : ordered_json(to_string(metric.better))},
          {"headline", metric.headline}};
}

}  // namespace

std::vector<ListedThing> list_metrics() {
  std::vector<ListedThing> things;
  for (const MetricDeclaration& metric : all_metrics()) {
    things.push_back({std::string(metric.pattern), std::string(metric.meaning), "", "", details(metric)});
  }
  return things;
}

std::string metric_page(const std::string& name, const Painter& paint) {
  const MetricDeclaration& metric = metric_called(name);
  Table facts = labelled(10, paint);
  const auto add = [&facts](const char* label, std::string_view text) { facts.add({{label, Colour::dim}, std::string(text)}); };
  if (name != metric.pattern) add("one of", metric.pattern);
  if (!metric.unit.empty()) add("unit", metric.unit);
  add("group", to_string(metric_group(metric.pattern)));
  add("better", to_string(metric.better));
  add("headline", metric.headline ? "yes, where its workload names fewer than three" : "no");
  return paint(Colour::bold, name) + "  " + std::string(metric.meaning) + "\n\n" + facts.text();
}

ordered_json metric_json(const std::string& name) {
  const MetricDeclaration& metric = metric_called(name);
  ordered_json out = {{"name", name}, {"title", metric.meaning}, {"pattern", metric.pattern}};
  out.update(details(metric));
  return out;
}

}  // namespace linebounce::sim
