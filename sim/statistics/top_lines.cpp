#include "sim/statistics/top_lines.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "sim/statistics/share.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

constexpr std::size_t kTopLines = 500;  // as in the paper

struct Sum {
  Tick latency = 0;
  std::int64_t count = 0;

  void add(Tick more_latency, std::int64_t more) {
    latency += more_latency;
    count += more;
  }
};

struct MissedLine {
  Sum sum;
  std::string subsystem;
};

struct KernelLines {
  Sum all;                            // includes misses that belong to no line
  std::vector<MissedLine> lines;      // by object and number
  std::vector<MissedLine> transfers;  // the same lines, counting only misses that another cache served
};

using LinesByPlace = std::map<std::pair<std::uint32_t, std::int64_t>, MissedLine>;

std::vector<MissedLine> in_order(const LinesByPlace& lines) {
  std::vector<MissedLine> all;
  for (const auto& [place, line] : lines) all.push_back(line);
  return all;
}

// Omits arrays, because all lines of an array are counted as one.
KernelLines kernel_lines(const MissTable& misses, const AddressSpace& memory) {
  KernelLines kernel;
  LinesByPlace lines;
  LinesByPlace transfers;
  for (const MissTable::Entry* entry : misses.sorted()) {
    const MissTable::Key& key = entry->key;
    const bool of_kernel = memory.functions()[key.function].mode == Mode::kernel;
    if (!of_kernel || key.source == Source::upgrade || key.access == AccessKind::store) continue;
    kernel.all.add(entry->latency, entry->count);
    const Symbol symbol = memory.symbol({key.object, key.offset});
    if (symbol.field == "[]") continue;
    const auto add_to = [&](LinesByPlace& some) {
      MissedLine& line = some[{key.object, symbol.line}];
      line.sum.add(entry->latency, entry->count);
      line.subsystem = memory.subsystem({key.object, key.offset});
    };
    add_to(lines);
    if (key.source == Source::local_c2c || key.source == Source::remote_c2c) add_to(transfers);
  }
  kernel.lines = in_order(lines);
  kernel.transfers = in_order(transfers);
  return kernel;
}

// The lines with the most latency in total.
std::vector<MissedLine> worst_of(std::vector<MissedLine> lines) {
  std::ranges::sort(lines, [](const MissedLine& a, const MissedLine& b) {
    return std::tie(a.sum.latency, a.sum.count) > std::tie(b.sum.latency, b.sum.count);
  });
  if (lines.size() > kTopLines) lines.resize(kTopLines);
  return lines;
}

double misses_pct(const Sum& part, const Sum& whole) {
  return share_pct(part.count, whole.count);
}

double latency_pct(const Sum& part, const Sum& whole) {
  return share_pct(part.latency, whole.latency);
}

// Sums over some lines, in total and by subsystem. A structure without a subsystem counts only in the total.
struct Top {
  Sum all;
  std::map<std::string, Sum> subsystems;
};

Top top_of(std::vector<MissedLine> lines) {
  Top top;
  for (const MissedLine& line : worst_of(std::move(lines))) {
    top.all.add(line.sum.latency, line.sum.count);
    if (!line.subsystem.empty()) top.subsystems[line.subsystem].add(line.sum.latency, line.sum.count);
  }
  return top;
}

void report(KernelLines kernel, MetricSink& metrics) {
  const Top top = top_of(std::move(kernel.lines));
  metrics.value("misses.top500_share_pct", "%", kNeither,
                "of the kernel's off-chip misses of loads and atomic operations: on the 500 lines with the most latency. Lines "
                "of plain arrays are not told apart and are none of them",
                misses_pct(top.all, kernel.all), kDetail);
  metrics.value("latency.top500_share_pct", "%", kNeither, "of these misses' latency: on the same 500 lines",
                latency_pct(top.all, kernel.all), kDetail);
  const MetricFamily by_misses = metrics.family("subsystem.<name>.misses_pct", "%", kNeither,
                                                "of the misses on the 500 lines of `misses.top500_share_pct`: on objects of "
                                                "structures that the layout file gives to that subsystem");
  const MetricFamily by_latency = metrics.family(
      "subsystem.<name>.latency_pct", "%", kNeither,
      "of the latency on these 500 lines: on objects of structures that the layout file gives to that subsystem");
  for (const auto& [name, part] : top.subsystems) {
    by_misses.add({name}, misses_pct(part, top.all));
    by_latency.add({name}, latency_pct(part, top.all));
  }
  const Top transfers = top_of(std::move(kernel.transfers));
  const bool any = transfers.all.count > 0;
  metrics.value("latency.top500_transfers_share_pct", "%", kNeither,
                "of these misses' latency: what other caches supplied of the 500 lines that have the most of that",
                any ? std::optional(latency_pct(transfers.all, kernel.all)) : std::nullopt, kDetail);
  const MetricFamily by_transfers =
      metrics.family("subsystem.<name>.transfers_latency_pct", "%", kNeither,
                     "of the latency on the 500 lines of `latency.top500_transfers_share_pct`, of what other caches supplied: "
                     "on objects of structures that the layout file gives to that subsystem",
                     kDetail);
  for (const auto& [name, part] : transfers.subsystems) by_transfers.add({name}, latency_pct(part, transfers.all));
}

}  // namespace

void add_top_lines(const MissTable& misses, const AddressSpace& memory, MetricSink& metrics) {
  KernelLines kernel = kernel_lines(misses, memory);
  if (kernel.all.count > 0) report(kernel, metrics);
}

void declare_top_lines(MetricSink& metrics) {
  report({}, metrics);
}

}  // namespace linebounce::sim
