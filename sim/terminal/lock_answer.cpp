#include "sim/terminal/lock_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "sim/results/numbers.hpp"
#include "sim/terminal/metrics_table.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kLockPath = "workload.lock";
constexpr const char* kCpusPath = "machine.cpus";
constexpr const char* kThroughput = "throughput.operations_per_s";
constexpr const char* kNoLock = "none";
constexpr const char* kStarved = "fairness.starved_cpus";

struct LockResult {
  std::string lock;
  double per_s = 0, interval = 0;
  bool has_interval = false;  // of several seeds
  double starved = 0;         // CPUs
};

struct SweptPoint {
  std::string lock;
  std::int64_t cpus = 0;
};

// None: of another sweep.
std::optional<SweptPoint> swept_point(const ReportedPoint& point) {
  if (point.at.size() != 2) return std::nullopt;
  SweptPoint swept;
  for (const auto& [path, value] : point.at) {
    if (path == kLockPath && std::holds_alternative<std::string>(value)) swept.lock = shown_value(value);
    if (path == kCpusPath && std::holds_alternative<std::int64_t>(value)) swept.cpus = std::get<std::int64_t>(value);
  }
  if (swept.lock.empty() || swept.cpus == 0) return std::nullopt;
  return swept;
}

// Of all locks with this number of CPUs, the one that does most first. Empty: one has no result.
std::vector<LockResult> ranked(const std::vector<ReportedPoint>& points, std::int64_t cpus) {
  std::vector<LockResult> results;
  for (const ReportedPoint& point : points) {
    const SweptPoint swept = *swept_point(point);
    if (swept.cpus != cpus || swept.lock == kNoLock) continue;
    const auto metric = point.metrics.find(kThroughput);
    if (metric == point.metrics.end()) return {};
    LockResult result{swept.lock, as_double(metric->second.value), metric->second.ci95.value_or(0),
                      metric->second.ci95.has_value()};
    if (const auto starved = point.metrics.find(kStarved); starved != point.metrics.end())
      result.starved = as_double(starved->second.value);
    results.push_back(std::move(result));
  }
  std::ranges::stable_sort(results, [](const auto& a, const auto& b) { return a.per_s > b.per_s; });
  return results;
}

std::string rate_text(const LockResult& result) {
  const bool shown = is_interval(result.per_s, result.interval);
  return (shown ? with_interval(result.per_s, result.interval, 0) : fmt::format("{:.0f}", result.per_s)) + " operations/s";
}

std::vector<std::string> not_below(const std::vector<LockResult>& results) {
  const LockResult& best = results.front();
  std::vector<std::string> others;
  for (auto other = results.begin() + 1; other != results.end(); ++other) {
    if (other->per_s + other->interval >= best.per_s - best.interval) others.push_back(other->lock);
  }
  return others;
}

}  // namespace

std::string lock_answer(const std::vector<ReportedPoint>& points) {
  std::int64_t cpus = 0;
  for (const ReportedPoint& point : points) {
    const std::optional<SweptPoint> swept = swept_point(point);
    if (!swept) return {};
    cpus = std::max(cpus, swept->cpus);
  }
  const std::vector<LockResult> results = ranked(points, cpus);
  if (results.size() < 2 || results.front().per_s <= 0 || results[1].per_s <= 0) return {};
  const LockResult& best = results.front();
  const std::string at = fmt::format("At {} ", plural(static_cast<std::uint64_t>(cpus), "CPU"));
  if (const std::vector<std::string> others = not_below(results); !others.empty()) {
    return fmt::format("{}{} does most, {}, but can't be told apart from {}: {}.", at, best.lock, rate_text(best),
                       fmt::join(others, ", "), best.has_interval ? "the intervals overlap" : "they do as much");
  }
  std::string text = fmt::format("{}{} does most: {}, {:.2g} % more than {}, the next", at, best.lock, rate_text(best),
                                 100 * (best.per_s / results[1].per_s - 1), results[1].lock);
  if (!best.has_interval) text += " (one seed, so without an interval)";
  if (best.starved > 0) text += "; but not all of its CPUs get their share, see below";
  return text + ".";
}

}  // namespace linebounce::sim
