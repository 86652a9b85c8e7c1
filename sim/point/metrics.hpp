// What each metric is. declared_metrics.cpp is the only place that says so: results take their units from it, the terminal its
// order and its columns, `list metrics` and docs/results.md all of it.
#pragma once

#include <span>
#include <string_view>

namespace linebounce::sim {

enum class MetricGroup { cost, throughput, workload, subsystem, lock, cpu, traffic, latency };  // in the order of tables
enum class Better { higher, lower, neither };

struct MetricDeclaration {
  // A name, or what its names have in common: <word> stands for a part without dots, <word...> for one or several parts, and a
  // single letter, <i>, for a number.
  std::string_view pattern;
  std::string_view unit;
  MetricGroup group;
  Better better;
  bool headline;  // shown first where a workload names fewer such metrics than there is room for
  std::string_view meaning;
};

// By group.
std::span<const MetricDeclaration> all_metrics();

// A name that is declared as it stands, else the first pattern that it fits. Null: nobody has declared it.
const MetricDeclaration* find_metric(std::string_view name);

// A metric of a program that declared it otherwise, or not at all, is one of its workload.
MetricGroup metric_group(std::string_view name);

// "lock", "higher": as `list metrics --json` has them.
std::string_view to_string(MetricGroup group);
std::string_view to_string(Better better);

}  // namespace linebounce::sim
