#include "workloads/program/throughput.hpp"

#include <algorithm>

namespace linebounce::workloads {

std::int64_t tallied_by_all(const RunFacts& facts, int tally) {
  std::int64_t total = 0;
  for (int cpu = 0; cpu < facts.cpus; ++cpu) total += facts.cpu(cpu).tallied(tally);
  return total;
}

double per_second(const RunFacts& facts, std::int64_t count) {
  return static_cast<double>(count) * 1e9 / facts.measured_ns;
}

void report_rate(const RunFacts& facts, std::int64_t operations, MetricSink& metrics) {
  metrics.metric("throughput.operations_per_s", per_second(facts, operations));
  metrics.count("throughput.operations", operations);
}

void report_least_share(const RunFacts& facts, int tally, MetricSink& metrics) {
  std::int64_t least = INT64_MAX;
  std::int64_t most = 0;
  std::int64_t starved = 0;
  const std::int64_t total = tallied_by_all(facts, tally);
  for (int cpu = 0; cpu < facts.cpus; ++cpu) {
    const std::int64_t done = facts.cpu(cpu).tallied(tally);
    least = std::min(least, done);
    most = std::max(most, done);
    if (10 * done * facts.cpus < total) ++starved;
  }
  const double share_pct = most == 0 ? 0 : 100.0 * static_cast<double>(least) / static_cast<double>(most);
  metrics.metric("fairness.least_share_pct", share_pct);
  metrics.count("fairness.starved_cpus", starved);
}

void report_throughput(const RunFacts& facts, int tally, MetricSink& metrics) {
  const std::int64_t total = tallied_by_all(facts, tally);
  report_rate(facts, total, metrics);
  report_least_share(facts, tally, metrics);
  metrics.mean("cost.operation_ns", facts.measured_ns * facts.cpus, total);
}

}  // namespace linebounce::workloads
