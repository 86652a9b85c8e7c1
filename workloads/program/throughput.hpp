// Metrics of workloads that repeat one operation and tally it.
#pragma once

#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// The sum of all CPUs' tallies in the measured time.
std::int64_t tallied_by_all(const RunFacts& facts, int tally);

// The rate of an event that happened `count` times in the measured time.
double per_second(const RunFacts& facts, std::int64_t count);

// throughput.operations_per_s of `operations` in the measured time. / fairness.least_share_pct: what the CPU with the least has
// tallied, of what the one with the most has.
void report_rate(const RunFacts& facts, std::int64_t operations, MetricSink& metrics);
void report_least_share(const RunFacts& facts, int tally, MetricSink& metrics);

// Both, and cost.operation_ns of one CPU's time.
void report_throughput(const RunFacts& facts, int tally, MetricSink& metrics);

}  // namespace linebounce::workloads
