#include "sim/simulation/lock_rows.hpp"

#include <algorithm>
#include <set>

#include "sim/results/metric_names.hpp"

namespace linebounce::sim {

namespace {

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

// util_pct is a share of the measured time, of the mean instance; cpu_pct one of the time of all CPUs. wait_mean_us is that of
// those who waited.
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

// `lock` and `call_site`: as metrics call them.
void add_metrics(const LockRow& row, const std::string& lock, const std::string& call_site, PointData& point) {
  const std::string prefix = "locks." + lock + (call_site.empty() ? "." : "." + call_site + ".");
  const auto add = [&](const char* name, auto value) { point.add_metric(prefix + name, value); };
  add("util_pct", row.util_pct);
  add("con_pct", row.con_pct);
  add("hold_mean_us", row.hold_mean_us);
  add("hold_max_us", row.hold_max_us);
  add("wait_mean_us", row.wait_mean_us);
  add("wait_max_us", row.wait_max_us);
  add("cpu_pct", row.cpu_pct);
  add("total", row.total);
  add("nowait", row.nowait);
  add("spin", row.spin);
  add("rjct", row.rjct);
}

// What lockmeter has no column for; each only of a lock for which somebody waited.
void add_waits(const std::string& lock, const LockUse& use, const Timebase& timebase, PointData& point) {
  const std::string prefix = "locks." + lock + ".";
  if (use.waiting > 0) point.add_metric(prefix + "waiting", use.waiting);
  if (use.handoffs > 0)
    point.add_metric(prefix + "handoff_mean_ns", timebase.to_ns(use.handoff_sum) / static_cast<double>(use.handoffs));
}

void add_races(const std::string& lock, const Races& races, const Timebase& timebase, PointData& point) {
  const std::string prefix = "locks." + lock + ".";
  point.add_metric(prefix + "races", races.sections);
  if (!races.first) return;
  point.add_metric(prefix + "first_race.at_us", timebase.to_ns(races.first->at) / 1000);
  point.add_metric(prefix + "first_race.inside_cpu", std::int64_t{races.first->first_cpu.value});
  point.add_metric(prefix + "first_race.entering_cpu", std::int64_t{races.first->second_cpu.value});
}

}  // namespace

void collect_locks(const LockSet& locks, const AddressSpace& memory, const Timebase& timebase, Tick measured, int cpus,
                   PointData& point) {
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
    std::ranges::sort(sites, [](const LockRow& a, const LockRow& b) { return a.call_site < b.call_site; });
    point.locks.push_back(row_of(name, "", all, figures.instances(), timebase, measured, cpus));
    point.locks.insert(point.locks.end(), sites.begin(), sites.end());
    add_waits(lock_names.at(name), all, timebase, point);
    if (figures.instances() > 1) {
      const double worst = 100 * ratio(static_cast<double>(figures.most_held()), static_cast<double>(measured));
      point.add_metric("locks." + lock_names.at(name) + ".util_worst_pct", worst);
    }
    if (figures.races()) add_races(lock_names.at(name), *figures.races(), timebase, point);
  }
  names.clear();
  for (const LockRow& row : point.locks) {
    if (!row.call_site.empty()) names.insert(row.call_site);
  }
  std::map<std::string, std::string> call_sites = metric_names(names);
  call_sites.emplace("", "");  // all of them together
  for (const LockRow& row : point.locks) add_metrics(row, lock_names.at(row.lock), call_sites.at(row.call_site), point);
}

}  // namespace linebounce::sim
