// Metrics of workloads that repeat one operation and tally it.
#pragma once

#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// Returns what all CPUs together have counted under the number `tally` in the measured time.
std::int64_t tallied_by_all(const RunFacts& facts, int tally);

// Returns the rate per second of an event that happened `count` times in the measured time.
double per_second(const RunFacts& facts, std::int64_t count);

// report_rate() reports throughput.operations_per_s; `operations` is their number in the measured time. report_least_share()
// reports fairness.least_share_pct: the lowest tally of any CPU in percent of the highest.
void report_rate(const RunFacts& facts, std::int64_t operations, MetricSink& metrics);
void report_rate(double operations_per_s, MetricSink& metrics);
void report_least_share(const RunFacts& facts, int tally, MetricSink& metrics);

// Reports the metrics of report_rate() and report_least_share(), and cost.operation_ns, a CPU's mean time for one operation.
void report_throughput(const RunFacts& facts, int tally, MetricSink& metrics);

}  // namespace linebounce::workloads
