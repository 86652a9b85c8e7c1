#include "sim/statistics/lock_rows.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "sim/point/point_metrics.hpp"
#include "sim/statistics/metric_names.hpp"
#include "sim/statistics/source_names.hpp"

namespace linebounce::sim {

namespace {

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

// Makes a row. util_pct: share of the measured time, averaged over the lock's instances. cpu_pct: share of all CPUs' time.
// wait_mean_us: over acquisitions that waited.
LockRow row_of(const std::string& lock, const std::string& call_site, const LockUse& use, int instances,
               const Timebase& timebase, Tick measured, int cpus) {
  const auto us = [&timebase](Tick ticks) { return timebase.to_ns(ticks) / 1000; };
  LockRow row;
  row.lock = lock;
  row.call_site = call_site;
  row.nowait = use.nowait;
  row.spin = use.spin;
  row.rjct = use.rejected;
  row.total = use.nowait + use.spin;
  row.util_pct = 100 * ratio(static_cast<double>(use.held), static_cast<double>(measured) * instances);
  row.con_pct = 100 * ratio(static_cast<double>(use.spin), static_cast<double>(row.total));
  row.cpu_pct = 100 * ratio(static_cast<double>(use.waited), static_cast<double>(measured) * cpus);
  row.hold_mean_us = ratio(us(use.hold_sum), static_cast<double>(use.holds));
  row.hold_max_us = us(use.hold_max);
  row.wait_mean_us = ratio(us(use.wait_sum), static_cast<double>(use.spin));
  row.wait_max_us = us(use.wait_max);
  return row;
}

// Reports lockmeter's columns as metrics. `lock` and `call_site`: as they appear in metrics' names.
void add_metrics(const LockRow& row, const std::string& lock, const std::string& call_site, MetricSink& metrics) {
  const auto add = [&](const std::string& column, const char* unit, Better better, const char* meaning, MetricValue value) {
    const char* of_site = "the lock's figure of this name, of one function alone that took it";
    call_site.empty()
        ? metrics.family("locks.<lock>." + column, unit, better, meaning, kDetail).add({lock}, value)
        : metrics.family("locks.<lock>.<call_site>." + column, unit, better, of_site, kDetail).add({lock, call_site}, value);
  };
  add("util_pct", "%", kLower,
      "share of the time in which it is held; of several locks of one name the mean one's. Readers who hold it together are "
      "added up: of theirs it can exceed 100",
      row.util_pct);
  add("con_pct", "%", kLower, "share of the acquisitions that had to wait", row.con_pct);
  add("hold_mean_us", "us", kLower, "mean hold, to the beginning of the release", row.hold_mean_us);
  add("hold_max_us", "us", kLower, "the longest hold", row.hold_max_us);
  add("wait_mean_us", "us", kLower, "mean wait, over those that waited", row.wait_mean_us);
  add("wait_max_us", "us", kLower, "the longest wait", row.wait_max_us);
  add("cpu_pct", "%", kLower, "of all CPUs' time: waiting for it", row.cpu_pct);
  add("total", "", kNeither, "acquisitions, with the waits under way at the end", row.total);
  add("nowait", "", kNeither, "acquisitions at once", row.nowait);
  add("spin", "", kLower, "acquisitions that had to wait; a wait under way at the end counts with its length so far", row.spin);
  add("rjct", "", kLower, "`try_acquire` that failed, readers that had to read again", row.rjct);
}

// Reports further metrics of a lock that CPUs waited for.
void add_waits(const std::string& lock, const LockUse& use, const Timebase& timebase, MetricSink& metrics) {
  const MetricFamily waiting =
      metrics.family("locks.<lock>.waiting", "", kLower, "waits under way at the end; missing if there are none", kDetail);
  if (use.waiting > 0) waiting.add({lock}, use.waiting);
  const MetricFamily handoff = metrics.family(
      "locks.<lock>.handoff_mean_ns", "ns", kLower,
      "from the beginning of a release to the next hold, where somebody waited for it; missing if nobody did", kDetail);
  const MetricFamily local = metrics.family("locks.<lock>.handoff_local_mean_ns", "ns", kLower,
                                            "`handoff_mean_ns` between CPUs of one node; missing if there were none", kDetail);
  const MetricFamily remote = metrics.family("locks.<lock>.handoff_remote_mean_ns", "ns", kLower,
                                             "`handoff_mean_ns` from one node to another; missing if there were none", kDetail);
  const auto add_mean = [&](const MetricFamily& mean, std::int64_t count, Tick sum) {
    if (count > 0) mean.add({lock}, timebase.to_ns(sum) / static_cast<double>(count));
  };
  add_mean(handoff, use.handoffs, use.handoff_sum);
  add_mean(local, use.handoffs - use.remote_handoffs, use.handoff_sum - use.remote_handoff_sum);
  add_mean(remote, use.remote_handoffs, use.remote_handoff_sum);
}

// Reports misses on the lock's own lines, including those of waiters and of the CPU that hands over the lock.
void add_misses(const std::string& lock, const LockRow& row, MetricSink& metrics) {
  const MetricFamily misses = metrics.family("locks.<lock>.misses", "", kLower,
                                             "misses on the lock's words and objects; missing if there are none", kDetail);
  const MetricFamily mean = metrics.family("locks.<lock>.miss_mean_ns", "ns", kLower, "mean latency of these misses", kDetail);
  const MetricFamily queueing = metrics.family("locks.<lock>.queueing_mean_ns", "ns", kLower,
                                               "of that: waits for resources in use. The rest is travel", kDetail);
  const MetricFamily by_resource = metrics.family(
      "locks.<lock>.queueing_<resource>_mean_ns", "ns", kLower,
      "of that: waits for one resource, as in `latency.<source>.queueing_<resource>_mean_ns`; missing if none", kDetail);
  if (row.misses == 0) return;
  misses.add({lock}, row.misses);
  mean.add({lock}, row.miss_ns_mean);
  queueing.add({lock}, row.waits.total());
  for (std::size_t resource = 0; resource < kResources; ++resource) {
    if (row.waits.ns[resource] > 0) by_resource.add({lock, kResourceNames[resource]}, row.waits.ns[resource]);
  }
}

void add_worst(const std::string& lock, double worst_pct, MetricSink& metrics) {
  const MetricFamily worst = metrics.family("locks.<lock>.util_worst_pct", "%", kLower,
                                            "of several locks of one name: `util_pct` of the one that is held most", kDetail);
  worst.add({lock}, worst_pct);
}

void add_races(const std::string& lock, const Races& races, const Timebase& timebase, MetricSink& metrics) {
  const MetricFamily sections =
      metrics.family("locks.<lock>.races", "", kLower,
                     "of lock `none`: sections that overlapped another CPU's, readers beside readers not counted", kDetail);
  sections.add({lock}, races.sections);
  const MetricFamily at =
      metrics.family("locks.<lock>.first_race.at_us", "us", kNeither, "when the first of lock `none`'s races was", kDetail);
  const MetricFamily inside = metrics.family("locks.<lock>.first_race.inside_cpu", "", kNeither,
                                             "the CPU that was in its section at the first of lock `none`'s races", kDetail);
  const MetricFamily entering =
      metrics.family("locks.<lock>.first_race.entering_cpu", "", kNeither, "the CPU that entered then", kDetail);
  if (!races.first) return;
  at.add({lock}, timebase.to_ns(races.first->at) / 1000);
  inside.add({lock}, std::int64_t{races.first->first_cpu.value});
  entering.add({lock}, std::int64_t{races.first->second_cpu.value});
}

}  // namespace

void collect_locks(const LockSet& locks, const AddressSpace& memory, const Timebase& timebase, Tick measured, int cpus,
                   const std::map<std::string, LockMisses>& misses, PointData& point) {
  PointMetrics metrics(point);
  std::set<std::string> names;
  for (const auto& [name, figures] : locks.figures()) names.insert(name);
  const std::map<std::string, std::string> lock_names = metric_names(names);
  for (const auto& [name, figures] : locks.figures()) {
    LockUse all;
    std::vector<LockRow> sites;
    for (const auto& [call_site, use] : figures.by_call_site()) {
      all.add(use);
      sites.push_back(row_of(name, memory.functions()[call_site].name, use, figures.instances(), timebase, measured, cpus));
    }
    std::sort(sites.begin(), sites.end(), [](const LockRow& a, const LockRow& b) { return a.call_site < b.call_site; });
    LockRow& own = point.locks.emplace_back(row_of(name, "", all, figures.instances(), timebase, measured, cpus));
    if (const auto found = misses.find(name); found != misses.end()) {
      own.misses = found->second.count;
      own.miss_ns_mean = found->second.ns_mean;
      own.waits = found->second.waits;
    }
    add_misses(lock_names.at(name), own, metrics);
    point.locks.insert(point.locks.end(), sites.begin(), sites.end());
    add_waits(lock_names.at(name), all, timebase, metrics);
    if (figures.instances() > 1) {
      const double worst = 100 * ratio(static_cast<double>(figures.most_held()), static_cast<double>(measured));
      add_worst(lock_names.at(name), worst, metrics);
    }
    if (figures.races()) add_races(lock_names.at(name), *figures.races(), timebase, metrics);
  }
  names.clear();
  for (const LockRow& row : point.locks) {
    if (!row.call_site.empty()) names.insert(row.call_site);
  }
  std::map<std::string, std::string> call_sites = metric_names(names);
  call_sites.emplace("", "");  // stands for all call sites together
  for (const LockRow& row : point.locks) add_metrics(row, lock_names.at(row.lock), call_sites.at(row.call_site), metrics);
}

void declare_lock_metrics(MetricSink& metrics) {
  const Timebase timebase(std::array{Frequency{.numerator_mhz = 1}});
  add_metrics({}, "", "", metrics);
  add_waits("", {}, timebase, metrics);
  add_misses("", {}, metrics);
  add_worst("", 0, metrics);
  add_races("", {}, timebase, metrics);
  add_metrics({}, "", "call_site", metrics);
}

}  // namespace linebounce::sim
