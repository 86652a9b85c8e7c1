#include <fmt/format.h>

#include "models/text/spelling.hpp"
#include "sim/commands/named_kinds.hpp"
#include "sim/point/config_error.hpp"
#include "sim/point/metrics.hpp"

namespace linebounce::sim {

namespace {

using nlohmann::ordered_json;

// By a name that results have, or a declared pattern.
const MetricDeclaration& metric_called(const std::string& name) {
  if (const MetricDeclaration* metric = find_metric(name)) return *metric;
  std::vector<std::string> known;
  for (const MetricDeclaration& metric : all_metrics()) known.emplace_back(metric.pattern);
  const std::string near = nearest(name, known);
  throw ConfigError(fmt::format("metric {} is not declared: see linebounce list metrics{}", name,
                                near.empty() ? "" : "; did you mean " + near + "?"));
}

ordered_json details(const MetricDeclaration& metric) {
  return {{"unit", metric.unit},
          {"group", to_string(metric.group)},
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
  constexpr std::size_t kLabel = 10;
  const auto row = [&paint](const char* label, std::string_view text) {
    return "  " + paint(Colour::dim, pad_right(label, kLabel)) + std::string(text) + "\n";
  };
  std::string out = paint(Colour::bold, name) + "  " + std::string(metric.meaning) + "\n\n";
  if (name != metric.pattern) out += row("one of", metric.pattern);
  if (!metric.unit.empty()) out += row("unit", metric.unit);
  out += row("group", to_string(metric.group));
  out += row("better", to_string(metric.better));
  return out + row("headline", metric.headline ? "yes, a column of a sweep's table" : "no");
}

ordered_json metric_json(const std::string& name) {
  const MetricDeclaration& metric = metric_called(name);
  ordered_json out = {{"name", name}, {"title", metric.meaning}, {"pattern", metric.pattern}};
  out.update(details(metric));
  return out;
}

}  // namespace linebounce::sim
