// The catalogue of metrics: every declaration that a report() makes (workloads/program/metric_sink.hpp). The terminal takes its
// order and its columns from it, `list metrics` and docs/results.md all of it.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

using workloads::Better;
using workloads::MetricDeclaration;

enum class MetricGroup { cost, throughput, workload, subsystem, lock, cpu, traffic, latency };  // in the order of tables

// By group. One that a single workload reports begins its meaning with that workload's name.
const std::vector<MetricDeclaration>& all_metrics();

// A name that is declared as it stands, else the first pattern that it fits. Null: nobody has declared it.
const MetricDeclaration* find_metric(std::string_view name);

// By the first part of its name; a metric of another name is one of its workload.
MetricGroup metric_group(std::string_view name);

// "lock", "higher": as `list metrics --json` has them.
std::string_view to_string(MetricGroup group);
std::string_view to_string(Better better);

}  // namespace linebounce::sim
