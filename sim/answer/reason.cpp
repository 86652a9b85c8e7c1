#include "sim/answer/reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/answer/quantity.hpp"
#include "sim/results/numbers.hpp"
#include "sim/statistics/source_names.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kThroughput = "throughput.operations_per_s";
constexpr double kWellExplained = 0.8;
constexpr double kContended = 0.9;   // a lock is contended if at least this share of its acquisitions wait
constexpr double kWorthNaming = 20;  // the smallest cost worth naming, in percent of the time

std::optional<double> metric_of(const ReportedPoint& point, const std::string& name) {
  const auto found = point.metrics.find(name);
  if (found == point.metrics.end() || !std::isfinite(as_double(found->second.value))) return std::nullopt;
  return as_double(found->second.value);
}

std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string ns_text(double ns) {
  return quantity(ns, std::nullopt, "ns");
}

// The name of the lock with most CPU time: "section_lock" from "locks.section_lock.cpu_pct". Ignores rows of a lock's call
// sites. None if no lock takes any.
std::optional<std::string> busiest_lock(const ReportedPoint& point) {
  constexpr std::string_view kPrefix = "locks.", kShare = ".cpu_pct";
  std::optional<std::string> busiest;
  double most = 0;
  for (const auto& [name, metric] : point.metrics) {
    if (name.size() < kPrefix.size() + kShare.size() || !name.starts_with(kPrefix) || !name.ends_with(kShare)) continue;
    const std::string lock = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kShare.size());
    const double share = metric_of(point, name).value_or(0);
    if (lock.find('.') != std::string::npos || share <= most) continue;
    most = share;
    busiest = lock;
  }
  return busiest;
}

// For a lock that serialises all operations: elapsed time per operation in ns, and the part in which the lock is held. The rest
// is hand-off.
struct LockTime {
  double per_operation = 0, held = 0;
  [[nodiscard]] double handed() const { return per_operation - held; }
};

std::optional<LockTime> lock_time(const ReportedPoint& point, const std::string& lock) {
  const std::string prefix = "locks." + lock + ".";
  const auto rate = metric_of(point, kThroughput), util = metric_of(point, prefix + "util_pct");
  const auto total = metric_of(point, prefix + "total"), waited = metric_of(point, prefix + "spin");
  if (!rate || !util || !total || !waited || *rate <= 0 || *waited < kContended * *total) return std::nullopt;
  return LockTime{1e9 / *rate, 1e9 / *rate * *util / 100};
}

// Misses per operation that one source served, and their total latency in ns.
struct MissTime {
  double count = 0, ns = 0;
};

std::map<std::string, MissTime> misses_of(const ReportedPoint& point) {
  std::map<std::string, MissTime> misses;
  const auto operations = metric_of(point, "throughput.operations");
  if (!operations || *operations <= 0) return misses;
  for (const char* source : kSourceNames) {
    const std::string prefix = fmt::format("latency.{}.", source);
    const auto count = metric_of(point, prefix + "count"), mean = metric_of(point, prefix + "mean_ns");
    if (count && mean) misses[source] = {*count / *operations, *count * *mean / *operations};
  }
  return misses;
}

MissTime sum_of(const std::map<std::string, MissTime>& misses) {
  MissTime sum;
  for (const auto& [source, time] : misses) {
    sum.count += time.count;
    sum.ns += time.ns;
  }
  return sum;
}

// "2.3 misses of 700 ns".
std::string misses_text(const MissTime& misses) {
  const std::string count = fmt::format("{:.2g}", misses.count);
  return fmt::format("{} {} of {}", count, count == "1" ? "miss" : "misses", ns_text(misses.ns / misses.count));
}

// The resource at which misses on the lock's own words queue longest. Empty if they queue for less than kMuch of their latency.
std::string lock_queueing(const Contender& contender, const std::string& lock) {
  constexpr double kMuch = 0.3;  // of the latency
  static constexpr std::array<const char*, kResources> kBehind = {"in its core", "for the bus",     "for the line",
                                                                  "for links",   "for controllers", "for memory"};
  const std::string prefix = "locks." + lock + ".";
  const auto mean = metric_of(contender.point, prefix + "miss_mean_ns");
  const auto queueing = metric_of(contender.point, prefix + "queueing_mean_ns");
  if (!mean || !queueing || *queueing < kMuch * *mean) return "";
  double most = 0;
  std::string behind;
  for (std::size_t resource = 0; resource < kResources; ++resource) {
    const auto waits = metric_of(contender.point, fmt::format("{}queueing_{}_mean_ns", prefix, kResourceNames[resource]));
    if (waits && *waits > most) std::tie(most, behind) = std::pair(*waits, kBehind.at(resource));
  }
  if (behind.empty()) return "";
  return fmt::format(" {} a miss on {} takes {}, {} of it queueing, {} of that {}.", contender.under, lock, ns_text(*mean),
                     ns_text(*queueing), most > *queueing / 2 ? "most" : "the largest part", behind);
}

// Compares two points whose operations wait for one lock, by the time that it is held and the time of a hand-off.
std::string by_lock(const Contender& winner, const Contender& next, const std::string& lock) {
  const auto fast = lock_time(winner.point, lock), slow = lock_time(next.point, lock);
  if (!fast || !slow) return "";
  const double held = slow->held - fast->held, handed = slow->handed() - fast->handed();
  if (held + handed <= 0) return "";
  const bool by_hand = handed >= held;
  std::string text = by_hand ? fmt::format("{} {} changes hands in {}, {} in {}", winner.under, lock, ns_text(fast->handed()),
                                           lower_first(next.under), ns_text(slow->handed()))
                             : fmt::format("{} {} is held for {}, {} for {}", winner.under, lock, ns_text(fast->held),
                                           lower_first(next.under), ns_text(slow->held));
  const double other = by_hand ? held : handed;
  if (std::abs(other) > (1 - kWellExplained) * (held + handed)) {
    const std::string amount = ns_text(std::abs(other));
    const char* joint = other > 0 ? "and" : "but";
    text += by_hand ? fmt::format(", {} {} it is held {} {}", joint, lower_first(winner.under), amount,
                                  other > 0 ? "shorter" : "longer")
                    : fmt::format(", {} {} it changes hands {} {}", joint, lower_first(winner.under), amount,
                                  other > 0 ? "sooner" : "later");
  }
  const MissTime moved = sum_of(misses_of(winner.point)), more = sum_of(misses_of(next.point));
  if (moved.count > 0 && more.count > 0)
    text += fmt::format(" (misses per operation: {:.2g} of {} each, against {:.2g} of {})", moved.count,
                        ns_text(moved.ns / moved.count), more.count, ns_text(more.ns / more.count));
  return text + "." + lock_queueing(next, lock);
}

// Compares two points by their misses: how CPU time per operation divides among the sources that served them.
std::string by_misses(const Contender& winner, const Contender& next) {
  const auto fast_rate = metric_of(winner.point, kThroughput), slow_rate = metric_of(next.point, kThroughput);
  const auto fast = misses_of(winner.point), slow = misses_of(next.point);
  if (!fast_rate || !slow_rate || *fast_rate <= 0 || *slow_rate <= 0 || slow.empty()) return "";
  std::string largest;
  double most = 0;
  for (const auto& [source, time] : slow) {
    const auto there = fast.find(source);
    const double more = time.ns - (there == fast.end() ? 0 : there->second.ns);
    if (more > most) std::tie(most, largest) = std::pair(more, source);
  }
  if (largest.empty()) return "";
  const MissTime& slower = slow.at(largest);
  const MissTime faster = fast.contains(largest) ? fast.at(largest) : MissTime{};
  std::string text = fmt::format("Per operation {} spends {} on {} ({}), {} {}", next.name, ns_text(slower.ns),
                                 source_words(largest), misses_text(slower), winner.name, ns_text(faster.ns));
  if (faster.count > 0) text += fmt::format(" ({})", misses_text(faster));
  text += ".";
  if (winner.cpus <= 0 || next.cpus <= 0) return text;
  const double difference = 1e9 * next.cpus / *slow_rate - 1e9 * winner.cpus / *fast_rate;
  if (difference <= 0) return text;
  if (most * kWellExplained > difference)
    return text + fmt::format(
                      " The difference in CPU time is {}: part of these misses is hidden behind other work, or {} "
                      "spends more on the rest.",
                      ns_text(difference), winner.name);
  if (most >= kWellExplained * difference) return text;
  return text + fmt::format(" That is {} of {} of CPU time; the rest are other misses, hits, computing and waiting.",
                            ns_text(most), ns_text(difference));
}

}  // namespace

std::string reason_of(const Contender& winner, const Contender& next, const std::string& metric) {
  if (metric != kThroughput) return "";
  const std::optional<std::string> lock = busiest_lock(next.point);
  const std::string text = lock ? by_lock(winner, next, *lock) : "";
  return text.empty() ? by_misses(winner, next) : text;
}

std::string main_cost(const ReportedPoint& point) {
  const std::optional<std::string> lock = busiest_lock(point);
  if (const auto waiting = lock ? metric_of(point, "locks." + *lock + ".cpu_pct") : std::nullopt;
      waiting && *waiting >= kWorthNaming)
    return fmt::format("The CPUs spend {} of their time waiting for {}.", quantity(*waiting, std::nullopt, "%"), *lock);
  double all = 0, most = 0, count = 0;
  std::string largest;
  for (const char* source : kSourceNames) {
    const std::string prefix = fmt::format("latency.{}.", source);
    const double misses = metric_of(point, prefix + "count").value_or(0);
    const double ns = misses * metric_of(point, prefix + "mean_ns").value_or(0);
    all += ns;
    if (ns > most) std::tie(most, count, largest) = std::tuple(ns, misses, source);
  }
  if (most <= 0) return "";
  return fmt::format("{} of the misses' latency is {}, {} each.", quantity(100 * most / all, std::nullopt, "%"),
                     source_words(largest), ns_text(most / count));
}

}  // namespace linebounce::sim
