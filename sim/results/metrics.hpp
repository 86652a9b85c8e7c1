// The catalogue of all metrics, collected from the declarations in report() functions (workloads/program/metric_sink.hpp). It
// determines the order and columns of tables on the terminal. `list metrics` and docs/results.md show it completely.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

using workloads::Better;
using workloads::MetricDeclaration;

// in the order of presentation
enum class MetricGroup { cost, throughput, workload, subsystem, lock, cpu, traffic, latency };

// Sorted by group. The meaning of a metric that only one workload reports begins with that workload's name.
const std::vector<MetricDeclaration>& all_metrics();

// The declaration with this name, else the first matching pattern; null if there is none.
const MetricDeclaration* find_metric(std::string_view name);

// The group that the name's first part determines. Other names belong to the group `workload`.
MetricGroup metric_group(std::string_view name);

// The words that `list metrics --json` uses: "lock", "higher".
std::string_view to_string(MetricGroup group);
std::string_view to_string(Better better);

}  // namespace linebounce::sim
