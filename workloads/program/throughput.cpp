#include "workloads/program/throughput.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/failure.hpp"

namespace linebounce::workloads {

std::int64_t tallied_by_all(const RunFacts& facts, int tally) {
  std::int64_t total = 0;
  for (int cpu = 0; cpu < facts.cpus; ++cpu) {
    if (__builtin_add_overflow(total, facts.cpu(cpu).tallied(tally), &total))
      throw ModelFailure(fmt::format("tally {}: the sum of all CPUs' has more than 63 bits", tally));
  }
  return total;
}

double per_second(const RunFacts& facts, std::int64_t count) {
  return static_cast<double>(count) * 1e9 / facts.measured_ns;
}

void report_rate(double operations_per_s, MetricSink& metrics) {
  metrics.value("throughput.operations_per_s", "1/s", kHigher,
                "the workload's own operations, of all CPUs; of `oltp`: transactions that are committed", operations_per_s);
}

void report_rate(const RunFacts& facts, std::int64_t operations, MetricSink& metrics) {
  report_rate(per_second(facts, operations), metrics);
  metrics.count("throughput.operations", "", kHigher, "the operations of `throughput.operations_per_s` that were counted",
                operations, kDetail);
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
    if (10.0 * static_cast<double>(done) * facts.cpus < static_cast<double>(total)) ++starved;
  }
  const double share_pct = most == 0 ? 0 : 100.0 * static_cast<double>(least) / static_cast<double>(most);
  metrics.value("fairness.least_share_pct", "%", kHigher, "operations of the slowest CPU, of those of the fastest", share_pct);
  metrics.count("fairness.starved_cpus", "", kLower, "CPUs that got less than a tenth of an equal share", starved, kDetail);
}

void report_throughput(const RunFacts& facts, int tally, MetricSink& metrics) {
  const std::int64_t total = tallied_by_all(facts, tally);
  report_rate(facts, total, metrics);
  report_least_share(facts, tally, metrics);
  metrics.mean("cost.operation_ns", "ns", kLower,
               "a CPU's time for one operation of `throughput.operations_per_s`, where the workload says it",
               facts.measured_ns * facts.cpus, total);
}

}  // namespace linebounce::workloads
