#include "sim/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "models/ordinal.hpp"
#include "sim/point/point_metrics.hpp"
#include "sim/statistics/cpi_rows.hpp"
#include "sim/statistics/metric_names.hpp"
#include "sim/statistics/share.hpp"
#include "sim/statistics/source_names.hpp"
#include "sim/statistics/top_lines.hpp"

namespace linebounce::sim {

namespace {

constexpr std::array<const char*, 2> kModeNames = {"kernel", "user"};

template <class Value>
std::set<std::string> keys(const std::map<std::string, Value>& map) {
  std::set<std::string> names;
  for (const auto& entry : map) names.insert(entry.first);
  return names;
}

void report_second_half(double pct, MetricSink& metrics) {
  metrics.value("throughput.second_half_pct", "%", kNeither,
                "of the misses of the measured time, those of its second half: near 50 if the warm-up was long enough; with "
                "1,000 or more",
                pct, kDetail);
}

void report_buses(double data_pct, double address_pct, std::int64_t transactions, MetricSink& metrics) {
  metrics.value("bus.utilisation_pct", "%", kLower, "share of the data clocks in use; of several buses the mean", data_pct);
  metrics.value("bus.address_utilisation_pct", "%", kLower, "share of the address slots in use; of several buses the mean",
                address_pct, kDetail);
  metrics.count("bus.transactions", "", kLower, "transactions on all buses", transactions, kDetail);
}

void report_pair_prefetches(const CacheUnit::PairPrefetches& pairs, MetricSink& metrics) {
  metrics.count(
      "prefetch.pairs", "", kLower,
      "lines asked for because the other one of their pair was missing. Only where `cpu.pair_prefetch` of the machine is on",
      pairs.lines, kDetail);
  metrics.count("prefetch.pairs_from_caches", "", kLower,
                "of these, lines that another cache had to give: where both CPUs write, false sharing of a pair",
                pairs.from_caches, kDetail);
}

void report_links(const std::vector<LinkStatistics>& links, double measured, double measured_ns, MetricSink& metrics) {
  const MetricFamily utilisation = metrics.family("link.<a>_<b>.utilisation_pct", "%", kLower,
                                                  "of the link from node a to node b; a number beyond the nodes' is the switch "
                                                  "of a crossbar. 0 where the link has no limit of its own",
                                                  kDetail);
  const MetricFamily traffic = metrics.family("link.<a>_<b>.mb_per_s", "MB/s", kNeither,
                                              "what the same link carried: headers and lines; 10^6 bytes a second", kDetail);
  for (const LinkStatistics& link : links) {
    const std::string from = std::to_string(link.from);
    const std::string to = std::to_string(link.to);
    utilisation.add({from, to}, share_pct(static_cast<double>(link.busy), measured));
    traffic.add({from, to}, measured_ns > 0 ? static_cast<double>(link.bytes) / measured_ns * 1e3 : 0);
  }
}

using Cpi = std::array<std::optional<double>, 2>;  // by mode (kernel, user); none if no instruction ran in that mode

void report_time(const Cpi& cpi, double system, double user, double all, MetricSink& metrics) {
  metrics.value(
      "cpi.kernel", "", kLower,
      "cycles / instructions of the kernel's functions; a memory operation counts as one instruction, a spin's loads too. "
      "`cpi.csv` says what the cycles went to",
      cpi[0], kDetail);
  metrics.value("cpi.user", "", kLower, "cycles / instructions of user code's functions, counted alike", cpi[1], kDetail);
  metrics.value("time.system_pct", "%", kNeither, "of all CPUs' time: in the kernel", share_pct(system, all), kDetail);
  metrics.value("time.user_pct", "%", kNeither, "of all CPUs' time: in user code", share_pct(user, all), kDetail);
  metrics.value("time.idle_pct", "%", kNeither, "of all CPUs' time: CPUs that sleep or whose program has ended",
                share_pct(all - system - user, all), kDetail);
}

// Reports the kernel's time by function. A lock's out-of-line spin loop counts as a function.
void report_profile(const std::map<std::string, Tick>& times, Tick kernel, MetricSink& metrics) {
  const MetricFamily time_pct =
      metrics.family("profile.<function>.time_pct", "%", kNeither,
                     "of the kernel's time: in that function itself. Spinning counts in a function of its own where the "
                     "workload names one, as kernels spin out of line (`text_lock_dcache`)",
                     kDetail);
  const std::map<std::string, std::string> parts = metric_names(keys(times));
  for (const auto& [name, time] : times)
    time_pct.add({parts.at(name)}, share_pct(static_cast<double>(time), static_cast<double>(kernel)));
}

// Reports waits for anything other than data (such as TLBs and instruction fetch), in total and by function.
void report_footprint(double time_pct, const FootprintMisses& all, const std::map<std::string, FootprintMisses>& by_function,
                      MetricSink& metrics) {
  metrics.value("footprint.time_pct", "%", kLower,
                "of all CPUs' time: waiting for code or for translations of addresses. Only where `[footprint]` of the machine "
                "is on, as the rest of `footprint`",
                time_pct);
  metrics.count("footprint.tlb_misses", "", kLower, "addresses whose page no entry of the core's data TLB translated",
                all.pages, kDetail);
  metrics.count("footprint.code_misses", "", kLower, "lines of code that were not in the core's cache of code", all.code_lines,
                kDetail);
  const MetricFamily tlb_misses =
      metrics.family("footprint.<function>.tlb_misses", "", kLower, "of that function's accesses alone", kDetail);
  const MetricFamily code_misses =
      metrics.family("footprint.<function>.code_misses", "", kLower, "of that function's code alone", kDetail);
  const std::map<std::string, std::string> parts = metric_names(keys(by_function));
  for (const auto& [name, misses] : by_function) {
    tlb_misses.add({parts.at(name)}, misses.pages);
    code_misses.add({parts.at(name)}, misses.code_lines);
  }
}

// Reports mean waits of misses, by the source that served them.
void report_queueing(const std::map<std::string, MeanWaits>& of_source, MetricSink& metrics) {
  const MetricFamily queueing =
      metrics.family("latency.<source>.queueing_mean_ns", "ns", kLower,
                     "of the mean latency of misses with that source: waits for resources in use. The rest is travel", kDetail);
  const MetricFamily by_resource = metrics.family(
      "latency.<source>.queueing_<resource>_mean_ns", "ns", kLower,
      "of the same: waits for that resource, one of `core`, `bus`, `line`, `link`, `controller`, `memory`; missing if none",
      kDetail);
  for (const auto& [source, mean] : of_source) {
    queueing.add({source}, mean.total());
    for (std::size_t resource = 0; resource < kResources; ++resource) {
      if (mean.ns[resource] > 0) by_resource.add({source, kResourceNames[resource]}, mean.ns[resource]);
    }
  }
}

void report_latency_per_operation(const std::map<std::string, double>& ns_by_subsystem, double operations,
                                  MetricSink& metrics) {
  const MetricFamily of_subsystem = metrics.family("subsystem.<name>.latency_us_per_operation", "us", kLower,
                                                   "of `latency.kernel_us_per_operation`: on all objects, not only the worst "
                                                   "lines, of structures that the layout file gives to that subsystem");
  double all = 0;
  for (const auto& [subsystem, ns] : ns_by_subsystem) {
    all += ns;
    if (!subsystem.empty()) of_subsystem.add({subsystem}, ns / 1000 / operations);
  }
  metrics.value("latency.kernel_us_per_operation", "us", kLower,
                "latency of all the kernel's misses that somebody supplied, and of upgrades, over the operations of "
                "`throughput.operations_per_s`",
                all / 1000 / operations, kDetail);
}

void report_replay_differences(const std::map<std::string, std::int64_t>& recorded, const PointData& replay,
                               MetricSink& metrics) {
  const MetricFamily difference =
      metrics.family("replay.misses.<source>.difference_pct", "%", kNeither,
                     "workload `replay`: by how much `latency.<source>.count` differs from that of the recorded run. Only of a "
                     "trace that `trace record` has made, replayed on the same machine, with the same locks and measured time");
  for (const auto& [source, count] : recorded) {
    if (count == 0) continue;
    const auto found = replay.metrics.find("latency." + source + ".count");
    const std::int64_t replayed = found == replay.metrics.end() ? 0 : std::get<std::int64_t>(found->second.value);
    difference.add({source}, 100 * (static_cast<double>(replayed) / static_cast<double>(count) - 1));
  }
}

}  // namespace

void Statistics::declare(MetricSink& metrics) {
  report_second_half(0, metrics);
  report_profile({}, 0, metrics);
  report_time({}, 0, 0, 0, metrics);
  report_footprint(0, {}, {}, metrics);
  report_pair_prefetches({}, metrics);
  report_buses(0, 0, 0, metrics);
  report_links({}, 0, 0, metrics);
  add_latency_metrics(
      {}, {}, [](std::int64_t) { return 0.0; }, metrics);
  report_queueing({}, metrics);
  declare_top_lines(metrics);
  report_latency_per_operation({}, 0, metrics);
  report_replay_differences({}, {}, metrics);
}

void LatencyHistogram::add(std::int64_t cycles, std::int64_t count) {
  if (cycles < std::ssize(dense_)) {
    dense_[static_cast<std::size_t>(cycles)] += count;
  } else {
    add_beyond(cycles, count);
  }
}

void LatencyHistogram::add_beyond(std::int64_t cycles, std::int64_t count) {
  if (cycles < kMostDense) {
    dense_.resize(std::bit_ceil(static_cast<std::size_t>(cycles) + 1));
    dense_[static_cast<std::size_t>(cycles)] = count;
  } else {
    sparse_[cycles] += count;
  }
}

Histogram LatencyHistogram::bins() const {
  Histogram bins = sparse_;
  for (std::int64_t cycles = 0; cycles < std::ssize(dense_); ++cycles) {
    const std::int64_t count = dense_[static_cast<std::size_t>(cycles)];
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
  const auto mode = static_cast<std::size_t>(memory_.functions()[miss.function].mode);
  auto& histograms = miss.access == AccessKind::store ? stores_ : reads_;
  histograms[mode][static_cast<std::size_t>(miss.source)].add(miss.latency / core_.cycle);
  const AddressSpace::Place place = memory_.find(miss.address);
  const int home = homes_.peek(store_.line_of(miss.address));
  const bool remote = layout_.cpus[static_cast<std::size_t>(miss.cpu.value)].node != home;
  table_.add({place.object, place.offset, miss.function, miss.access, static_cast<std::int16_t>(home), miss.source}, remote,
             miss);
  ++halves_[miss.issued < middle_ ? 0 : 1];
}

void Statistics::collect(Machine& machine, PointData& point) const {
  PointMetrics metrics(point);
  collect_latency(machine, point, metrics);
  collect_lines(point);
  collect_queueing(metrics);
  point.cpi = cpi_rows(machine, memory_);
  add_top_lines(table_, memory_, metrics);
  collect_time(machine, metrics);
  if (core_.footprint.on()) collect_footprint(machine, metrics);
  collect_transitions(machine, point);
  collect_traffic(machine, metrics);
  collect_halves(metrics);
  point.simulated_ns = static_cast<std::int64_t>(timebase_.to_ns(machine.measured()));
}

// Reports the share of misses in each half of the measured time. Skipped for a run that lasts until all programs end, because
// it has no fixed halves.
void Statistics::collect_halves(MetricSink& metrics) const {
  constexpr std::int64_t kFewest = 1000;  // with fewer misses, the halves may differ by chance
  const std::int64_t misses = halves_[0] + halves_[1];
  if (core_.end == kNever || misses < kFewest) return;
  report_second_half(share_pct(static_cast<double>(halves_[1]), static_cast<double>(misses)), metrics);
}

// Reports utilisation: the mean over all buses, and each link on its own.
void Statistics::collect_traffic(const Machine& machine, MetricSink& metrics) const {
  const auto measured = static_cast<double>(machine.measured());
  const BusStatistics bus = machine.bus_statistics();
  const double buses = measured * static_cast<double>(machine.buses());
  report_buses(share_pct(static_cast<double>(bus.data_busy), buses), share_pct(static_cast<double>(bus.address_busy), buses),
               bus.transactions, metrics);
  if (core_.pair_prefetch != PairPrefetch::none) report_pair_prefetches(machine.pair_prefetches(), metrics);
  if (machine.network() != nullptr)
    report_links(machine.network()->links(machine.finished_at()), measured, timebase_.to_ns(machine.measured()), metrics);
}

void Statistics::collect_latency(Machine& machine, PointData& point, MetricSink& metrics) const {
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
      all, reads, [this](std::int64_t cycles) { return timebase_.to_ns(cycles * core_.cycle); }, metrics);
}

// Adds the hits of each cache level, all with that level's latency. Returns their number.
std::int64_t Statistics::add_hits(const ThreadCounters& counters, LatencyBins& bins) const {
  std::int64_t all = 0;
  for (std::size_t function = 0; function < counters.by_function.size(); ++function) {
    const char* mode = kModeNames[static_cast<std::size_t>(memory_.functions()[function].mode)];
    for (std::size_t level = 0; level < core_.hit_latency.size(); ++level) {
      std::int64_t hits = 0;
      for (const std::int64_t count : counters.by_function[function].hits[level]) hits += count;
      if (hits > 0) bins[{mode, fmt::format("l{}", level + 1)}][core_.hit_latency[level] / core_.cycle] += hits;
      all += hits;
    }
  }
  return all;
}

MeanWaits Statistics::mean_waits(const Waits& waits, std::int64_t count) const {
  MeanWaits mean;
  for (std::size_t resource = 0; resource < kResources; ++resource)
    mean.ns[resource] = timebase_.to_ns(waits[static_cast<Resource>(resource)]) / static_cast<double>(count);
  return mean;
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
  row.access = kAccessNames[static_cast<std::size_t>(entry.key.access)];
  row.home = entry.key.home;
  row.source = kSourceNames[static_cast<std::size_t>(entry.key.source)];
  row.count = entry.count;
  row.remote_pct = share_pct(static_cast<double>(entry.remote), static_cast<double>(entry.count));
  row.latency_ns_mean = timebase_.to_ns(entry.latency) / static_cast<double>(entry.count);
  row.cpus = entry.cpus;
  row.waits = mean_waits(entry.waits, entry.count);
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
  std::sort(point.lines.begin(), point.lines.end(), [](const LineRow& a, const LineRow& b) {
    return std::tie(a.structure, a.object, a.line, a.offset, a.field, a.function, a.access, a.home, a.source) <
           std::tie(b.structure, b.object, b.line, b.offset, b.field, b.function, b.access, b.home, b.source);
  });
}

void Statistics::collect_queueing(MetricSink& metrics) const {
  std::map<std::string, MissTable::Sum> of_source;
  for (const MissTable::Entry* entry : table_.sorted()) of_source[kSourceNames[ordinal(entry->key.source)]].add(*entry);
  std::map<std::string, MeanWaits> means;
  for (const auto& [source, sum] : of_source) means[source] = mean_waits(sum.waits, sum.count);
  report_queueing(means, metrics);
}

std::map<std::string, LockMisses> Statistics::lock_misses(const LockSet& locks) const {
  std::map<std::uint32_t, std::string> of_object;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> of_word;
  for (const LockSet::Created& lock : locks.created()) {
    const std::string name = name_in_figures(lock.options.figures.empty() ? lock.lock->name() : lock.options.figures);
    for (std::size_t object = lock.first_object; object < lock.end_object; ++object)
      of_object[static_cast<std::uint32_t>(object)] = name;
    if (!lock.options.word) continue;
    const AddressSpace::Place place = memory_.find(*lock.options.word);
    of_word[{place.object, place.offset}] = name;
  }
  std::map<std::string, MissTable::Sum> sums;
  for (const MissTable::Entry* entry : table_.sorted()) {
    if (const auto whole = of_object.find(entry->key.object); whole != of_object.end()) {
      sums[whole->second].add(*entry);
    } else if (const auto word = of_word.find({entry->key.object, entry->key.offset}); word != of_word.end()) {
      sums[word->second].add(*entry);
    }
  }
  std::map<std::string, LockMisses> misses;
  for (const auto& [name, sum] : sums)
    misses[name] = {sum.count, timebase_.to_ns(sum.latency) / static_cast<double>(sum.count), mean_waits(sum.waits, sum.count)};
  return misses;
}

void Statistics::add_latency_per_operation(double measured_ns, PointData& point) const {
  const auto rate = point.metrics.find("throughput.operations_per_s");
  const std::map<std::string, double> latency = kernel_latency_ns();
  if (rate == point.metrics.end() || latency.empty()) return;
  const auto per_s = std::visit([](auto value) { return static_cast<double>(value); }, rate->second.value);
  const double operations = per_s * measured_ns / 1e9;
  PointMetrics metrics(point);
  if (operations != 0) report_latency_per_operation(latency, operations, metrics);
}

void Statistics::add_replay_differences(const std::map<std::string, std::int64_t>& recorded, PointData& point) {
  PointMetrics metrics(point);
  report_replay_differences(recorded, point, metrics);
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

void Statistics::collect_time(Machine& machine, MetricSink& metrics) const {
  std::array<Tick, 2> time{};
  std::array<std::int64_t, 2> instructions{};
  for (int cpu = 0; cpu < machine.cpus(); ++cpu) {
    const ThreadCounters& counters = machine.cpu(cpu).counters();
    for (std::size_t function = 0; function < counters.by_function.size(); ++function) {
      const auto mode = static_cast<std::size_t>(memory_.functions()[function].mode);
      time[mode] += counters.time_in_function[function];
      instructions[mode] += counters.by_function[function].instructions;
    }
  }
  Cpi cpi;
  for (std::size_t mode = 0; mode < 2; ++mode) {
    if (instructions[mode] == 0) continue;
    const Tick ticks_at_one = core_.cycle * instructions[mode];
    cpi[mode] = static_cast<double>(time[mode]) / static_cast<double>(ticks_at_one);
  }
  // The denominator includes the time after a program's end, in which its CPU is idle.
  const double all = static_cast<double>(machine.measured()) * machine.cpus();
  report_time(cpi, static_cast<double>(time[0]), static_cast<double>(time[1]), all, metrics);
  if (time[0] > 0) report_profile(kernel_times(machine), time[0], metrics);
}

std::map<std::string, Tick> Statistics::kernel_times(Machine& machine) const {
  std::map<std::string, Tick> times;
  for (std::size_t function = 0; function < memory_.functions().size(); ++function) {
    if (memory_.functions()[function].mode != Mode::kernel) continue;
    Tick time = 0;
    for (int cpu = 0; cpu < machine.cpus(); ++cpu) time += machine.cpu(cpu).counters().time_in_function[function];
    if (time > 0) times[memory_.functions()[function].name] += time;
  }
  return times;
}

void Statistics::collect_footprint(Machine& machine, MetricSink& metrics) const {
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
  const std::int64_t cycles = all.pages * core_.footprint.tlb_miss_cycles + all.code_lines * core_.footprint.code_miss_cycles;
  const double time_pct =
      share_pct(static_cast<double>(cycles * core_.cycle), static_cast<double>(machine.measured()) * machine.cpus());
  report_footprint(time_pct, all, by_function, metrics);
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
