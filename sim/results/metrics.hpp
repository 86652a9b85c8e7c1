// The catalogue of metrics: every declaration that a report() makes (workloads/program/metric_sink.hpp). It determines the
// order and columns of the terminal's tables. `list metrics` and docs/results.md show all of it.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

using workloads::Better;
using workloads::MetricDeclaration;

// in the order in which the terminal shows them
enum class MetricGroup { cost, throughput, workload, subsystem, lock, cpu, traffic, latency };

// Sorted by group. If only one workload reports a metric, its meaning begins with that workload's name.
const std::vector<MetricDeclaration>& all_metrics();

// The declaration of exactly this name, else the first pattern that fits. Null if there is none.
const MetricDeclaration* find_metric(std::string_view name);

// The group that the first part of the name implies; any other name belongs to a workload.
MetricGroup metric_group(std::string_view name);

// The words of `list metrics --json`: "lock", "higher".
std::string_view to_string(MetricGroup group);
std::string_view to_string(Better better);

}  // namespace linebounce::sim
