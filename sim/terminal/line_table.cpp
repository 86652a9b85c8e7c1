#include "sim/terminal/line_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "sim/answer/quantity.hpp"
#include "sim/results/numbers.hpp"
#include "sim/statistics/source_names.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kNoteIndent = 6;

std::string object_of(const Line& line) {
  return line.object.empty() ? "all " + line.structure : line.object;
}

std::string one_decimal(double value) {
  return fmt::format("{:.1f}", value);
}

std::string count_text(std::int64_t count) {
  return figure(static_cast<double>(count), "").size() <= 4 ? std::to_string(count) : figure(static_cast<double>(count));
}

std::string queueing_text(const MissSum& misses) {
  return misses.is_split ? one_decimal(misses.queueing_pct()) : "-";
}

// A dash if the source does not name the CPUs, as a report of perf c2c without -NN.
std::string count_of_cpus(const MissSum& misses) {
  return misses.cpus.none() ? "-" : std::to_string(misses.cpus.count());
}

// A row for each line with the columns of `perf c2c report`, and one more column for queueing.
std::string overview(const LineSet& set, const std::vector<Line>& shown, const Painter& paint) {
  const Scale latency = scale_of(shown.front().misses.latency_ns, "ns");
  Table table(
      {figures("", 2), names("object", 0, 1), figures("line", 0, 1), dispensable(figures("misses", 0, 1), 5),
       dispensable(figures("CPUs", 0, 1), 1), figures("loads", 0, 1), figures("stores", 0, 1), figures("local HITM", 0, 1),
       figures("remote HITM", 0, 1), dispensable(figures("code places", 0, 1), 4), figures("latency " + latency.name(), 0, 1),
       dispensable(figures("share %", 0, 1), 3), dispensable(figures("queueing %", 0, 1), 2)},
      paint, 0);
  table.add_rule();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Line& line = shown[i];
    const MissSum& misses = line.misses;
    table.add({std::to_string(i + 1), object_of(line), std::to_string(line.number), count_text(misses.count),
               count_of_cpus(misses), count_text(misses.loads), count_text(misses.stores), count_text(misses.local_hitm),
               count_text(misses.remote_hitm), std::to_string(line.code_places), figure_in(latency, misses.latency_ns),
               one_decimal(misses.latency_share_pct(set.all)), queueing_text(misses)});
  }
  return table.text();
}

std::string use_name(const Line& line, const LineUse& use) {
  const std::string owner = line.object.empty() ? line.structure : line.object;
  return use.field.empty() ? owner : owner + "." + use.field;
}

// "A miss takes 1.20 µs: 300 ns travel, 900 ns queueing (line 800 ns, bus 100 ns)." The parentheses name the resources.
std::string latency_text(const MissSum& misses) {
  if (misses.timed() == 0) return "Only stores, without latencies.";
  if (!misses.is_split) return fmt::format("A load takes {}.", quantity(misses.latency_ns_mean(), {}, "ns"));
  const auto mean = [&misses](double ns) { return quantity(ns / static_cast<double>(misses.count), {}, "ns"); };
  std::string text = fmt::format("A miss takes {}: {} travel, {} queueing", mean(misses.latency_ns),
                                 mean(misses.latency_ns - misses.queueing_ns()), mean(misses.queueing_ns()));
  std::vector<std::size_t> order(kResources);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return misses.waits_ns[a] > misses.waits_ns[b]; });
  std::vector<std::string> parts;
  for (const std::size_t resource : order) {
    if (misses.waits_ns[resource] > 0)
      parts.push_back(fmt::format("{} {}", kResourceNames[resource], mean(misses.waits_ns[resource])));
  }
  return text + (parts.empty() ? "." : fmt::format(" ({}).", fmt::join(parts, ", ")));
}

std::string uses_of(const Line& line, std::size_t number, const Painter& paint) {
  constexpr std::size_t kIndent = 6, kBetween = 2;
  const std::string owner = line.object.empty() ? "all objects of " + line.structure : line.object;
  const std::string home = line.home ? fmt::format("home node {}", *line.home) : "several homes";
  const std::string list = cpu_list(line.misses.cpus);
  const std::string cpus = list.empty() ? "" : ", CPUs " + list;
  std::string out =
      fmt::format("{:>4}  ", number) +
      wrapped_from(fmt::format("{}, line {}, {}{}", owner, line.number, home, cpus), kIndent, Colour::bold, paint);
  out += paragraph(latency_text(line.misses), kIndent, Colour::none, paint);
  double slowest = 0;
  for (const LineUse& use : line.uses) slowest = std::max(slowest, use.misses.latency_ns_mean());
  const Scale mean = scale_of(slowest, "ns");
  Table table(
      {figures("offset", 6), names("object.field", 0, kBetween), names("function", 0, kBetween), words("access", 0, kBetween),
       figures("misses", 0, kBetween), figures("CPUs", 0, kBetween), dispensable(figures("remote %", 0, kBetween), 3),
       dispensable(figures("local HITM", 0, kBetween), 2), dispensable(figures("remote HITM", 0, kBetween), 2),
       figures("mean " + mean.name(), 0, kBetween), dispensable(figures("queueing %", 0, kBetween), 1)},
      paint, 0);
  for (const LineUse& use : line.uses) {
    const MissSum& misses = use.misses;
    table.add({std::to_string(use.offset), use_name(line, use), use.function, use.access, count_text(misses.count),
               count_of_cpus(misses), one_decimal(misses.remote_pct()), count_text(misses.local_hitm),
               count_text(misses.remote_hitm), misses.timed() > 0 ? figure_in(mean, misses.latency_ns_mean()) : "-",
               queueing_text(misses)});
  }
  return out + table.text();
}

}  // namespace

std::string line_table(const LineSet& set, std::size_t most, const Painter& paint) {
  if (set.lines.empty()) return "";
  const std::vector<Line> shown(set.lines.begin(),
                                set.lines.begin() + static_cast<std::ptrdiff_t>(std::min(most, set.lines.size())));
  std::string out = overview(set, shown, paint);
  if (shown.size() < set.lines.size()) {
    out += paragraph(fmt::format("{} of {} lines, those with the most latency", shown.size(), set.lines.size()), kNoteIndent,
                     Colour::dim, paint);
  }
  if (set.arrays.count > 0) {
    out += paragraph(fmt::format("arrays without fields, counted as one: {} % of the latency",
                                 one_decimal(set.arrays.latency_share_pct(set.all))),
                     kNoteIndent, Colour::dim, paint);
  }
  for (std::size_t i = 0; i < shown.size(); ++i) out += "\n" + uses_of(shown[i], i + 1, paint);
  return out;
}

std::vector<SubsystemShare> subsystem_shares(const std::map<std::string, ReportedMetric>& metrics) {
  constexpr std::string_view kPrefix = "subsystem.";
  constexpr std::string_view kLatency = ".latency_pct";
  std::vector<SubsystemShare> shares;
  for (const auto& [name, metric] : metrics) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kLatency)) continue;
    const std::string subsystem = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kLatency.size());
    const auto misses = metrics.find(std::string(kPrefix) + subsystem + ".misses_pct");
    shares.push_back({subsystem, misses == metrics.end() ? 0 : as_double(misses->second.value), as_double(metric.value)});
  }
  std::ranges::stable_sort(shares, std::ranges::greater{}, &SubsystemShare::latency_pct);
  return shares;
}

std::string subsystem_table(const std::map<std::string, ReportedMetric>& metrics, const Painter& paint) {
  constexpr double kPercentOfABlock = 2;
  const std::vector<SubsystemShare> shares = subsystem_shares(metrics);
  if (shares.empty()) return "";
  Table table({names(""), figures("misses %", 10), figures("latency %", 11), words("", 0, 2)}, paint);
  for (const SubsystemShare& share : shares) {
    const auto blocks = static_cast<std::size_t>(share.latency_pct / kPercentOfABlock);
    table.add(
        {share.name, one_decimal(share.misses_pct), one_decimal(share.latency_pct), {repeated("█", blocks), Colour::cyan}});
  }
  return "  " + paint(Colour::bold, "The kernel's 500 lines with the most latency, by subsystem") + "\n" + table.text();
}

}  // namespace linebounce::sim
