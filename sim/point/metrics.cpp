#include "sim/point/metrics.hpp"

#include <algorithm>
#include <array>

namespace linebounce::sim {
namespace {

bool fits(std::string_view name, std::string_view pattern);

// Whether the name begins with something for the placeholder that the pattern begins with, and goes on as the pattern does.
bool fits_placeholder(std::string_view name, std::string_view pattern) {
  const std::size_t end = pattern.find('>');
  const std::string_view word = pattern.substr(1, end - 1);
  const auto may_hold = [number = word.size() == 1, several = word.ends_with("...")](char letter) {
    return number ? letter >= '0' && letter <= '9' : several || letter != '.';
  };
  for (std::size_t taken = 1; taken <= name.size() && may_hold(name[taken - 1]); ++taken) {
    if (fits(name.substr(taken), pattern.substr(end + 1))) return true;
  }
  return false;
}

bool fits(std::string_view name, std::string_view pattern) {
  const std::size_t same = std::min(pattern.find('<'), pattern.size());
  if (!name.starts_with(pattern.substr(0, same))) return false;
  return same == pattern.size() ? name.size() == same : fits_placeholder(name.substr(same), pattern.substr(same));
}

}  // namespace

const MetricDeclaration* find_metric(std::string_view name) {
  const auto all = all_metrics();
  auto found = std::find_if(all.begin(), all.end(), [name](const MetricDeclaration& metric) { return metric.pattern == name; });
  if (found == all.end()) {
    found = std::find_if(all.begin(), all.end(), [name](const auto& metric) { return fits(name, metric.pattern); });
  }
  return found == all.end() ? nullptr : &*found;
}

MetricGroup metric_group(std::string_view name) {
  const MetricDeclaration* metric = find_metric(name);
  return metric == nullptr ? MetricGroup::workload : metric->group;
}

std::string_view to_string(MetricGroup group) {
  static constexpr std::array<std::string_view, 8> kNames = {"cost", "throughput", "workload", "subsystem",
                                                             "lock", "cpu",        "traffic",  "latency"};
  return kNames.at(static_cast<std::size_t>(group));
}

std::string_view to_string(Better better) {
  static constexpr std::array<std::string_view, 3> kNames = {"higher", "lower", "neither"};
  return kNames.at(static_cast<std::size_t>(better));
}

}  // namespace linebounce::sim
