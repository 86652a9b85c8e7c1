#include "sim/simulation/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "models/ordinal.hpp"
#include "sim/results/metric_names.hpp"
#include "sim/simulation/share.hpp"
#include "sim/simulation/source_names.hpp"
#include "sim/simulation/top_lines.hpp"

namespace linebounce::sim {

namespace {

constexpr std::array<const char*, 2> kModeNames = {"kernel", "user"};

}  // namespace

void LatencyHistogram::add(std::int64_t cycles, std::int64_t count) {
  if (cycles < kDense) {
    dense_[cycles] += count;
  } else {
    sparse_[cycles] += count;
  }
}

Histogram LatencyHistogram::bins() const {
  Histogram bins = sparse_;
  for (std::int64_t cycles = 0; cycles < kDense; ++cycles) {
    const std::int64_t count = dense_[cycles];
    if (count > 0) bins[cycles] = count;
  }
  return bins;
}

Statistics::Statistics(Machine& machine, const AddressSpace& memory)
    : timebase_(machine.timebase()),
      core_(machine.core_spec()),
      store_(machine.store()),
      homes_(machine.homes()),
      layout_(machine.layout()),
      memory_(memory),
      middle_(core_.warmup_end + (core_.end - core_.warmup_end) / 2) {}

void Statistics::miss(const Miss& miss) {
  if (miss.issued < core_.warmup_end || miss.issued >= core_.end) return;
  const std::size_t mode = ordinal(memory_.functions()[miss.function].mode);
  auto& histograms = miss.access == AccessKind::store ? stores_ : reads_;
  histograms[mode][ordinal(miss.source)].add(miss.latency / core_.cycle);
  const AddressSpace::Place place = memory_.find(miss.address);
  const int home = homes_.peek(store_.line_of(miss.address));
  const bool remote = layout_.cpus[miss.cpu.value].node != home;
  table_.add({place.object, place.offset, miss.function, miss.access, static_cast<std::int16_t>(home), miss.source}, remote,
             miss.latency);
  ++halves_[miss.issued < middle_ ? 0 : 1];
}

void Statistics::collect(Machine& machine, PointData& point) const {
  collect_latency(machine, point);
  collect_lines(point);
  add_top_lines(table_, memory_, point);
  collect_time(machine, point);
  if (core_.footprint.on()) collect_footprint(machine, point);
  collect_transitions(machine, point);
  collect_traffic(machine, point);
  collect_halves(point);
  point.simulated_ns = static_cast<std::int64_t>(timebase_.to_ns(machine.measured()));
}

// A run until every program has ended has no halves.
void Statistics::collect_halves(PointData& point) const {
  constexpr std::int64_t kFewest = 1000;  // of fewer, chance alone makes the halves differ
  const std::int64_t misses = halves_[0] + halves_[1];
  if (core_.end == kNever || misses < kFewest) return;
  point.add_metric("throughput.second_half_pct", share_pct(static_cast<double>(halves_[1]), static_cast<double>(misses)));
}

// Of several buses the mean share, and each link's own.
void Statistics::collect_traffic(const Machine& machine, PointData& point) const {
  const auto measured = static_cast<double>(machine.measured());
  const BusStatistics bus = machine.bus_statistics();
  const double buses = measured * static_cast<double>(machine.buses());
  point.add_metric("bus.utilisation_pct", share_pct(static_cast<double>(bus.data_busy), buses));
  point.add_metric("bus.address_utilisation_pct", share_pct(static_cast<double>(bus.address_busy), buses));
  point.add_metric("bus.transactions", bus.transactions);
  if (core_.pair_prefetch != PairPrefetch::none) {
    point.add_metric("prefetch.pairs", machine.pair_prefetches().lines);
    point.add_metric("prefetch.pairs_from_caches", machine.pair_prefetches().from_caches);
  }
  if (machine.network() == nullptr) return;
  for (const LinkStatistics& link : machine.network()->links()) {
    const std::string name = fmt::format("link.{}_{}", link.from, link.to);
    point.add_metric(name + ".utilisation_pct", share_pct(static_cast<double>(link.busy), measured));
    point.add_metric(name + ".mb_per_s", static_cast<double>(link.bytes) / timebase_.to_ns(machine.measured()) * 1e3);
  }
}

void Statistics::collect_latency(Machine& machine, PointData& point) const {
  LatencyBins all, reads;
  for (std::size_t mode = 0; mode < 2; ++mode) {
    for (std::size_t source = 0; source < kSources; ++source) {
      Histogram bins = reads_[mode][source].bins();
      if (!bins.empty()) reads[{kModeNames[mode], kSourceNames[source]}] = bins;
      for (const auto& [cycles, count] : stores_[mode][source].bins()) bins[cycles] += count;
      if (!bins.empty()) all[{kModeNames[mode], kSourceNames[source]}] = std::move(bins);
    }
  }
  for (int cpu = 0; cpu < machine.cpus(); ++cpu) {
    const ThreadCounters& counters = machine.cpu(cpu).counters();
    for (const FunctionCounters& of : counters.by_function) point.references += of.misses;
    point.references += add_hits(counters, all);
  }
  for (const auto& [key, bins] : all) {
    for (const auto& [cycles, count] : bins) {
      point.latency.push_back({key.first, key.second, cycles, timebase_.to_ns(cycles * core_.cycle), count});
    }
  }
  add_latency_metrics(
      all, reads, [this](std::int64_t cycles) { return timebase_.to_ns(cycles * core_.cycle); }, point);
}

// Hits by level; all of a level have its latency. Returns how many there were.
std::int64_t Statistics::add_hits(const ThreadCounters& counters, LatencyBins& bins) const {
  std::int64_t all = 0;
  for (std::size_t function = 0; function < counters.by_function.size(); ++function) {
    const char* mode = kModeNames[ordinal(memory_.functions()[function].mode)];
    for (std::size_t level = 0; level < core_.hit_latency.size(); ++level) {
      std::int64_t hits = 0;
      for (const std::int64_t count : counters.by_function[function].hits[level]) hits += count;
      if (hits > 0) bins[{mode, fmt::format("l{}", level + 1)}][core_.hit_latency[level] / core_.cycle] += hits;
      all += hits;
    }
  }
  return all;
}

LineRow Statistics::line_row(const MissTable::Entry& entry) const {
  const Symbol symbol = memory_.symbol({entry.key.object, entry.key.offset});
  LineRow row;
  row.structure = symbol.structure;
  row.object = symbol.object;
  row.line = symbol.line;
  row.offset = symbol.offset;
  row.field = symbol.field;
  row.function = memory_.functions()[entry.key.function].name;
  row.access = kAccessNames[ordinal(entry.key.access)];
  row.home = entry.key.home;
  row.source = kSourceNames[ordinal(entry.key.source)];
  row.count = entry.count;
  row.remote_pct = share_pct(static_cast<double>(entry.remote), static_cast<double>(entry.count));
  row.latency_ns_mean = timebase_.to_ns(entry.latency) / static_cast<double>(entry.count);
  return row;
}

std::vector<PlacedRow> Statistics::placed_rows(const std::vector<PlacedTable>& tables) const {
  std::set<LineNumber> wanted;
  for (const PlacedTable& table : tables) wanted.insert(table.lines.begin(), table.lines.end());
  std::vector<PlacedRow> rows;
  for (const MissTable::Entry* entry : table_.sorted()) {
    if (entry->key.object == AddressSpace::kNoObject) continue;
    const Address address = memory_.address({entry->key.object, entry->key.offset});
    const LineNumber line = store_.line_of(address).value;
    if (wanted.contains(line)) rows.push_back({line, line_row(*entry)});
  }
  return rows;
}

void Statistics::collect_lines(PointData& point) const {
  const std::vector<const MissTable::Entry*> entries = table_.sorted();
  point.lines.reserve(entries.size());
  for (const MissTable::Entry* entry : entries) point.lines.push_back(line_row(*entry));
  std::ranges::sort(point.lines, [](const LineRow& a, const LineRow& b) {
    return std::tie(a.structure, a.object, a.line, a.offset, a.field, a.function, a.access, a.home, a.source) <
           std::tie(b.structure, b.object, b.line, b.offset, b.field, b.function, b.access, b.home, b.source);
  });
}

std::map<std::string, double> Statistics::kernel_latency_ns() const {
  std::map<std::string, Tick> ticks;
  for (const MissTable::Entry* entry : table_.sorted()) {
    if (memory_.functions()[entry->key.function].mode != Mode::kernel) continue;
    ticks[memory_.subsystem({entry->key.object, entry->key.offset})] += entry->latency;
  }
  std::map<std::string, double> latency;
  for (const auto& [subsystem, sum] : ticks) latency[subsystem] = timebase_.to_ns(sum);
  return latency;
}

void Statistics::collect_time(Machine& machine, PointData& point) const {
  std::array<Tick, 2> time{};
  std::array<std::int64_t, 2> instructions{};
  for (int cpu = 0; cpu < machine.cpus(); ++cpu) {
    const ThreadCounters& counters = machine.cpu(cpu).counters();
    for (std::size_t function = 0; function < counters.by_function.size(); ++function) {
      const std::size_t mode = ordinal(memory_.functions()[function].mode);
      time[mode] += counters.time_in_function[function];
      instructions[mode] += counters.by_function[function].instructions;
    }
  }
  for (std::size_t mode = 0; mode < 2; ++mode) {
    if (instructions[mode] == 0) continue;
    const Tick ticks_at_one = core_.cycle * instructions[mode];
    point.add_metric(std::string("cpi.") + kModeNames[mode],
                     static_cast<double>(time[mode]) / static_cast<double>(ticks_at_one));
  }
  collect_profile(machine, time[0], point);
  // A CPU whose program has ended idles.
  const auto all = static_cast<double>(machine.measured()) * machine.cpus();
  const double system = share_pct(static_cast<double>(time[0]), all);
  const double user = share_pct(static_cast<double>(time[1]), all);
  point.add_metric("time.system_pct", system);
  point.add_metric("time.user_pct", user);
  point.add_metric("time.idle_pct", share_pct(all - static_cast<double>(time[0]) - static_cast<double>(time[1]), all));
}

// As a kernel's profile: where its time goes, by function. A lock's out-of-line spinning is a function of its own.
void Statistics::collect_profile(Machine& machine, Tick kernel, PointData& point) const {
  if (kernel == 0) return;
  std::map<std::string, Tick> times;
  std::set<std::string> names;
  for (std::size_t function = 0; function < memory_.functions().size(); ++function) {
    if (memory_.functions()[function].mode != Mode::kernel) continue;
    Tick time = 0;
    for (int cpu = 0; cpu < machine.cpus(); ++cpu) time += machine.cpu(cpu).counters().time_in_function[function];
    if (time == 0) continue;
    times[memory_.functions()[function].name] += time;
    names.insert(memory_.functions()[function].name);
  }
  const std::map<std::string, std::string> parts = metric_names(names);
  for (const auto& [name, time] : times) {
    point.add_metric("profile." + parts.at(name) + ".time_pct",
                     share_pct(static_cast<double>(time), static_cast<double>(kernel)));
  }
}

// What the cores waited for beside data: by function, and all together.
void Statistics::collect_footprint(Machine& machine, PointData& point) const {
  std::map<std::string, FootprintMisses> by_function;
  FootprintMisses all;
  for (int cpu = 0; cpu < machine.cpus(); ++cpu) {
    const std::vector<FootprintMisses>& counted = machine.cpu(cpu).counters().footprint;
    for (std::size_t function = 0; function < counted.size(); ++function) {
      const FootprintMisses& misses = counted[function];
      if (misses.pages + misses.code_lines == 0) continue;
      const std::string& name = memory_.functions()[function].name;
      for (FootprintMisses* sum : {&all, &by_function[name]}) {
        sum->pages += misses.pages;
        sum->code_lines += misses.code_lines;
      }
    }
  }
  point.add_metric("footprint.tlb_misses", all.pages);
  point.add_metric("footprint.code_misses", all.code_lines);
  const std::int64_t cycles = all.pages * core_.footprint.tlb_miss_cycles + all.code_lines * core_.footprint.code_miss_cycles;
  point.add_metric("footprint.time_pct", share_pct(static_cast<double>(cycles * core_.cycle),
                                                   static_cast<double>(machine.measured()) * machine.cpus()));
  std::set<std::string> names;
  for (const auto& entry : by_function) names.insert(entry.first);
  const std::map<std::string, std::string> parts = metric_names(names);
  for (const auto& [name, misses] : by_function) {
    point.add_metric("footprint." + parts.at(name) + ".tlb_misses", misses.pages);
    point.add_metric("footprint." + parts.at(name) + ".code_misses", misses.code_lines);
  }
}

void Statistics::collect_transitions(const Machine& machine, PointData& point) {
  for (std::size_t i = 0; i < kControllers; ++i) {
    const auto controller = static_cast<Controller>(i);
    const ControllerTable& table = machine.log().table(controller);
    for (std::size_t state = 0; state < table.states.size(); ++state) {
      for (std::size_t event = 0; event < table.events.size(); ++event) {
        const std::int64_t count = machine.log().count(controller, static_cast<StateId>(state), static_cast<EventId>(event));
        if (count > 0) point.transitions.push_back({table.name, table.states[state].name, table.events[event], count});
      }
    }
  }
}

}  // namespace linebounce::sim
