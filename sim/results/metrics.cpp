#include "sim/results/metrics.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <tuple>

#include "sim/lines/table_metrics.hpp"
#include "sim/results/merge_seeds.hpp"
#include "sim/statistics/class_counters.hpp"
#include "sim/statistics/lock_rows.hpp"
#include "sim/statistics/statistics.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::sim {

namespace {

// The part of a name or pattern before the first dot.
std::string_view family_of(std::string_view name) {
  return name.substr(0, name.find('.'));
}

bool fits(std::string_view name, std::string_view pattern);

// True if the name matches a pattern that begins with a placeholder.
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
  if (!name.ends_with(pattern.substr(pattern.rfind('>') + 1))) return false;  // where most patterns differ
  const std::size_t same = std::min(pattern.find('<'), pattern.size());
  if (!name.starts_with(pattern.substr(0, same))) return false;
  return same == pattern.size() ? name.size() == same : fits_placeholder(name.substr(same), pattern.substr(same));
}

class Catalogue final : public workloads::MetricSink {
 public:
  // Sets the workload that the following declarations belong to; empty: the simulator.
  void begin(const std::string& workload) { workload_ = workload; }

  // Sorts by group. Within a group, metrics of the simulator or several workloads come before those of one workload.
  [[nodiscard]] std::vector<MetricDeclaration> by_group() && {
    std::vector<std::tuple<MetricGroup, bool, std::size_t>> order;  // the last: the index in entries_
    for (std::size_t i = 0; i < entries_.size(); ++i)
      order.emplace_back(metric_group(entries_[i].metric.pattern), !entries_[i].workload.empty(), i);
    std::sort(order.begin(), order.end());
    std::vector<MetricDeclaration> metrics;
    metrics.reserve(entries_.size());
    for (const auto& [group, of_one, i] : order) {
      metrics.push_back(std::move(entries_[i].metric));
      if (of_one) metrics.back().meaning.insert(0, "workload `" + entries_[i].workload + "`: ");
    }
    return metrics;
  }

 protected:
  void declare(const MetricDeclaration& metric) override {
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&metric](const Entry& entry) { return entry.metric.pattern == metric.pattern; });
    if (known == entries_.end()) return entries_.push_back({metric, workload_});
    if (known->metric != metric) throw std::logic_error("metric " + metric.pattern + " is declared twice, with differences");
    if (known->workload != workload_) known->workload.clear();
  }
  void add(const MetricDeclaration&, const std::string&, workloads::MetricValue) override {}

 private:
  struct Entry {
    MetricDeclaration metric;
    std::string workload;  // the only workload that reports the metric; empty: the simulator or several workloads report it
  };
  std::string workload_;
  std::vector<Entry> entries_;
};

// Declares the simulator's own metrics.
void declare_of_simulator(Catalogue& metrics) {
  metrics.begin("");
  Statistics::declare(metrics);
  declare_table_metrics(metrics);
  declare_lock_metrics(metrics);
  declare_modes(metrics);
  declare_class_counters(metrics);
}

// Lets each workload report without a run, only to collect its declarations.
void declare_of_workloads(Catalogue& metrics) {
  const std::function<const Cpu&(int)> no_cpu = [](int) -> const Cpu& { throw std::logic_error("there was no run"); };
  for (const workloads::WorkloadEntry& entry : workloads::all_workloads()) {
    metrics.begin(entry.name);
    std::map<std::string, workloads::ParameterValue> defaults;
    for (const workloads::ParameterDeclaration& parameter : entry.parameters)
      defaults[parameter.name] = parameter.default_value;
    entry.create(workloads::Parameters(std::move(defaults)))->report({.cpu = no_cpu}, metrics);
  }
}

}  // namespace

const std::vector<MetricDeclaration>& all_metrics() {
  static const std::vector<MetricDeclaration> kAll = [] {
    Catalogue catalogue;
    declare_of_workloads(catalogue);
    declare_of_simulator(catalogue);
    return std::move(catalogue).by_group();
  }();
  return kAll;
}

const MetricDeclaration* find_metric(std::string_view name) {
  struct Index {
    std::map<std::string_view, const MetricDeclaration*> by_name;
    std::multimap<std::string_view, const MetricDeclaration*> patterns;  // declarations with a placeholder, by family
  };
  static const Index index = [] {
    Index made;
    for (const MetricDeclaration& metric : all_metrics()) {
      made.by_name.emplace(metric.pattern, &metric);
      if (metric.pattern.find('<') != std::string::npos) made.patterns.emplace(family_of(metric.pattern), &metric);
    }
    return made;
  }();
  if (const auto known = index.by_name.find(name); known != index.by_name.end()) return known->second;
  const auto [first, last] = index.patterns.equal_range(family_of(name));
  const auto found = std::find_if(first, last, [name](const auto& of) { return fits(name, of.second->pattern); });
  return found == last ? nullptr : found->second;
}

MetricGroup metric_group(std::string_view name) {
  using enum MetricGroup;
  static constexpr auto kFamilies = std::to_array<std::pair<std::string_view, MetricGroup>>({{"cost", cost},
                                                                                             {"load_to_use", cost},
                                                                                             {"contended_line", cost},
                                                                                             {"throughput", throughput},
                                                                                             {"munmap", throughput},
                                                                                             {"subsystem", subsystem},
                                                                                             {"table", subsystem},
                                                                                             {"tables", subsystem},
                                                                                             {"locks", lock},
                                                                                             {"cpi", cpu},
                                                                                             {"time", cpu},
                                                                                             {"profile", cpu},
                                                                                             {"prefetch", cpu},
                                                                                             {"footprint", cpu},
                                                                                             {"bus", traffic},
                                                                                             {"caches", traffic},
                                                                                             {"link", traffic},
                                                                                             {"latency", latency},
                                                                                             {"misses", latency}});
  const std::string_view family = family_of(name);
  const auto found = std::find_if(kFamilies.begin(), kFamilies.end(), [family](const auto& of) { return of.first == family; });
  return found == kFamilies.end() ? workload : found->second;
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
