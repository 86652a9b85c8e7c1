#include "sim/results/merge_seeds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <tuple>

namespace linebounce::sim {
namespace {

using namespace workloads;

ReportedMetric mean_of(const std::vector<double>& values, const std::string& unit) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  if (values.size() < 2) return {mean, unit, std::nullopt};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (n - 1));
  return {mean, unit, student_t_95(values.size() - 1) * deviation / std::sqrt(n)};
}

constexpr const char* kLowerMode = "throughput.lower_mode";
constexpr const char* kUpperMode = "throughput.upper_mode";
constexpr const char* kLowerModeSeeds = "throughput.lower_mode_seeds";
constexpr const char* kOfModes = "1/s";

// Adds the means of two groups if the seeds' values fall into two: the gap between the groups is at least a tenth of the mean
// and wider than each group. The mean of all seeds then describes no run.
void add_modes(std::vector<double> values, std::map<std::string, ReportedMetric>& merged) {
  constexpr std::size_t kFewest = 4;
  if (values.size() < kFewest) return;
  std::ranges::sort(values);
  std::vector<double> gaps;
  for (std::size_t i = 1; i < values.size(); ++i) gaps.push_back(values[i] - values[i - 1]);
  const auto widest = std::ranges::max_element(gaps);
  const auto upper = values.begin() + (widest - gaps.begin()) + 1;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  const double within = values.back() - values.front() - *widest;
  if (*widest < mean / 10 || *widest <= within) return;
  merged[kLowerMode] = mean_of({values.begin(), upper}, kOfModes);
  merged[kUpperMode] = mean_of({upper, values.end()}, kOfModes);
  merged[kLowerModeSeeds] = {std::int64_t{upper - values.begin()}, "", std::nullopt};
}

std::map<std::string, ReportedMetric> merge_metrics(const std::vector<PointData>& runs) {
  std::map<std::string, ReportedMetric> merged;
  if (runs.size() == 1) {
    for (const auto& [name, metric] : runs.front().metrics) merged[name] = {metric.value, metric.unit, std::nullopt};
    return merged;
  }
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, std::string> units;
  for (const PointData& run : runs) {
    for (const auto& [name, metric] : run.metrics) {
      values[name].push_back(as_double(metric.value));
      units[name] = metric.unit;
    }
  }
  for (const auto& [name, of_metric] : values) merged[name] = mean_of(of_metric, units[name]);
  if (const auto rate = values.find("throughput.operations_per_s"); rate != values.end()) add_modes(rate->second, merged);
  return merged;
}

double weighted(double left, std::int64_t left_weight, double right, std::int64_t right_weight) {
  const std::int64_t weight = left_weight + right_weight;
  if (weight == 0) return 0;
  return (left * static_cast<double>(left_weight) + right * static_cast<double>(right_weight)) / static_cast<double>(weight);
}

std::vector<LatencyRow> merge_latency(const std::vector<PointData>& runs) {
  std::map<std::tuple<std::string, std::string, std::int64_t>, LatencyRow> merged;
  for (const PointData& run : runs) {
    for (const LatencyRow& row : run.latency) {
      const auto [entry, is_new] = merged.try_emplace({row.kind, row.source, row.latency_cycles}, row);
      if (!is_new) entry->second.count += row.count;
    }
  }
  std::vector<LatencyRow> rows;
  for (auto& [key, row] : merged) rows.push_back(row);
  return rows;
}

MeanWaits weighted(const MeanWaits& left, std::int64_t left_weight, const MeanWaits& right, std::int64_t right_weight) {
  MeanWaits mean;
  for (std::size_t resource = 0; resource < kResources; ++resource)
    mean.ns[resource] = weighted(left.ns[resource], left_weight, right.ns[resource], right_weight);
  return mean;
}

auto key(const LineRow& row) {
  return std::tie(row.structure, row.object, row.line, row.offset, row.field, row.function, row.access, row.home, row.source);
}

// Adds up neighbouring rows with the same key. REQUIRES: the rows are sorted.
void add_up(std::vector<LineRow>& rows) {
  if (rows.empty()) return;
  auto sum = rows.begin();
  for (auto row = std::next(sum); row != rows.end(); ++row) {
    if (key(*row) == key(*sum)) {
      sum->remote_pct = weighted(sum->remote_pct, sum->count, row->remote_pct, row->count);
      sum->latency_ns_mean = weighted(sum->latency_ns_mean, sum->count, row->latency_ns_mean, row->count);
      sum->waits = weighted(sum->waits.value(), sum->count, row->waits.value(), row->count);
      sum->cpus |= row->cpus;
      sum->count += row->count;
    } else if (++sum != row) {
      *sum = std::move(*row);
    }
  }
  rows.erase(std::next(sum), rows.end());
}

// Adds a run's row. Shares of time are averaged over runs, of which `sum` has `runs_before`. Means are weighted by their
// counts.
void add_lock(LockRow& sum, const LockRow& row, std::int64_t runs_before) {
  sum.util_pct = weighted(sum.util_pct, runs_before, row.util_pct, 1);
  sum.cpu_pct = weighted(sum.cpu_pct, runs_before, row.cpu_pct, 1);
  sum.con_pct = weighted(sum.con_pct, sum.total, row.con_pct, row.total);
  sum.hold_mean_us = weighted(sum.hold_mean_us, sum.total, row.hold_mean_us, row.total);
  sum.wait_mean_us = weighted(sum.wait_mean_us, sum.spin, row.wait_mean_us, row.spin);
  sum.hold_max_us = std::max(sum.hold_max_us, row.hold_max_us);
  sum.wait_max_us = std::max(sum.wait_max_us, row.wait_max_us);
  sum.miss_ns_mean = weighted(sum.miss_ns_mean, sum.misses, row.miss_ns_mean, row.misses);
  sum.waits = weighted(sum.waits, sum.misses, row.waits, row.misses);
  sum.misses += row.misses;
  sum.total += row.total;
  sum.nowait += row.nowait;
  sum.spin += row.spin;
  sum.rjct += row.rjct;
}

std::vector<LockRow> merge_locks(const std::vector<PointData>& runs) {
  std::map<std::pair<std::string, std::string>, LockRow> merged;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const LockRow& row : runs[i].locks) {
      LockRow nothing;
      nothing.lock = row.lock;
      nothing.call_site = row.call_site;
      // In earlier runs that did not take the lock, its share of the time was 0 %.
      add_lock(merged.try_emplace({row.lock, row.call_site}, nothing).first->second, row, static_cast<std::int64_t>(i));
    }
    for (auto& entry : merged) {
      LockRow& sum = entry.second;
      const bool taken = std::ranges::any_of(
          runs[i].locks, [&](const LockRow& row) { return row.lock == sum.lock && row.call_site == sum.call_site; });
      if (!taken) add_lock(sum, {}, static_cast<std::int64_t>(i));
    }
  }
  std::vector<LockRow> rows;
  for (auto& [key, row] : merged) rows.push_back(row);
  return rows;
}

std::vector<CpiRow> merge_cpi(const std::vector<PointData>& runs) {
  std::map<std::pair<std::int64_t, std::string>, CpiRow> merged;
  for (const PointData& run : runs) {
    for (const CpiRow& row : run.cpi) {
      const auto [entry, is_new] = merged.try_emplace({row.cpu, row.function}, row);
      if (is_new) continue;
      CpiRow& sum = entry->second;
      sum.instructions += row.instructions;
      for (std::size_t part = 0; part < sum.parts.size(); ++part) sum.parts[part] += row.parts[part];
    }
  }
  std::vector<CpiRow> rows;
  for (auto& [key, row] : merged) rows.push_back(std::move(row));
  return rows;
}

// All runs have the same rows, which depend on machine and parameters but not on the seed. A run that was cut short has only
// the first ones.
std::vector<MatrixRow> merge_matrix(const std::vector<PointData>& runs) {
  const auto longest = std::ranges::max_element(runs, {}, [](const PointData& run) { return run.matrix.size(); });
  std::vector<MatrixRow> rows = longest->matrix;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    double sum = 0;
    int known = 0;
    for (const PointData& run : runs) {
      if (row >= run.matrix.size()) continue;
      sum += run.matrix[row].latency_ns;
      ++known;
    }
    rows[row].latency_ns = sum / known;
  }
  return rows;
}

// A run lists only transitions that occurred in it, in the table's order. A row that is new in this run goes after the row that
// precedes it there.
std::vector<TransitionRow> merge_transitions(const std::vector<PointData>& runs) {
  std::vector<TransitionRow> merged;
  for (const PointData& run : runs) {
    auto place = merged.begin();
    for (const TransitionRow& row : run.transitions) {
      const auto found = std::ranges::find_if(merged, [&](const TransitionRow& other) {
        return other.controller == row.controller && other.state == row.state && other.event == row.event;
      });
      if (found != merged.end()) {
        found->count += row.count;
        place = found + 1;
      } else {
        place = merged.insert(place, row) + 1;
      }
    }
  }
  return merged;
}

}  // namespace

// The 0.975 quantile of Student's t distribution, from tables of the NIST/SEMATECH e-Handbook of Statistical Methods,
// 1.3.6.7.2. Between two entries, uses the one with fewer degrees of freedom, which makes the interval slightly too wide.
double student_t_95(std::size_t degrees_of_freedom) {
  static constexpr std::array kSmall = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                        2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                        2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees_of_freedom <= kSmall.size()) return kSmall.at(degrees_of_freedom - 1);
  if (degrees_of_freedom < 40) return 2.042;
  if (degrees_of_freedom < 60) return 2.021;
  if (degrees_of_freedom < 100) return 2.000;
  return 1.984;
}

void declare_modes(MetricSink& metrics) {
  metrics.family(kLowerMode, kOfModes, kHigher,
                 "mean of `throughput.operations_per_s` over the seeds in the lower of two modes; missing if the seeds agree",
                 kDetail);
  metrics.family(kUpperMode, kOfModes, kHigher, "likewise, the seeds in the upper mode", kDetail);
  metrics.family(kLowerModeSeeds, "", kNeither, "how many seeds are in the lower mode", kDetail);
}

void add_line_rows(std::vector<LineRow>& sum, std::vector<LineRow> lines) {
  if (sum.empty()) sum.swap(lines);
  const auto known = static_cast<std::ptrdiff_t>(sum.size());
  std::move(lines.begin(), lines.end(), std::back_inserter(sum));
  std::inplace_merge(sum.begin(), sum.begin() + known, sum.end(),
                     [](const LineRow& a, const LineRow& b) { return key(a) < key(b); });
  add_up(sum);
}

MergedPoint merge_seeds(std::vector<PointData> runs) {
  MergedPoint merged;
  merged.metrics = merge_metrics(runs);
  merged.tables.latency = merge_latency(runs);
  for (PointData& run : runs) add_line_rows(merged.tables.lines, std::move(run.lines));
  merged.tables.locks = merge_locks(runs);
  merged.tables.cpi = merge_cpi(runs);
  merged.tables.matrix = merge_matrix(runs);
  // Keeps only the first run's series: runs with other seeds differ in time, and a mean would show none of them.
  merged.tables.series = std::move(runs.front().series);
  merged.tables.transitions = merge_transitions(runs);
  for (const PointData& run : runs) {
    merged.tables.references += run.references;
    merged.tables.simulated_ns += run.simulated_ns;
  }
  return merged;
}

}  // namespace linebounce::sim
