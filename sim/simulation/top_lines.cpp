#include "sim/simulation/top_lines.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "sim/simulation/share.hpp"

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
  Sum all;                            // also what no line has
  std::vector<MissedLine> lines;      // by object and number
  std::vector<MissedLine> transfers;  // the same lines, what other caches supplied of them
};

using LinesByPlace = std::map<std::pair<std::uint32_t, std::int64_t>, MissedLine>;

std::vector<MissedLine> in_order(const LinesByPlace& lines) {
  std::vector<MissedLine> all;
  for (const auto& [place, line] : lines) all.push_back(line);
  return all;
}

// Lines of arrays are not told apart and are none of them.
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

// Those with the largest sums of latency.
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

// What a set of lines has, and each subsystem of it. Structures of no subsystem are in the sum alone.
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

}  // namespace

void add_top_lines(const MissTable& misses, const AddressSpace& memory, PointData& point) {
  KernelLines kernel = kernel_lines(misses, memory);
  if (kernel.all.count == 0) return;
  const Top top = top_of(std::move(kernel.lines));
  point.add_metric("misses.top500_share_pct", misses_pct(top.all, kernel.all));
  point.add_metric("latency.top500_share_pct", latency_pct(top.all, kernel.all));
  for (const auto& [name, part] : top.subsystems) {
    point.add_metric("subsystem." + name + ".misses_pct", misses_pct(part, top.all));
    point.add_metric("subsystem." + name + ".latency_pct", latency_pct(part, top.all));
  }
  const Top transfers = top_of(std::move(kernel.transfers));
  if (transfers.all.count == 0) return;
  point.add_metric("latency.top500_transfers_share_pct", latency_pct(transfers.all, kernel.all));
  for (const auto& [name, part] : transfers.subsystems)
    point.add_metric("subsystem." + name + ".transfers_latency_pct", latency_pct(part, transfers.all));
}

}  // namespace linebounce::sim
