#include "sim/terminal/line_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/results/numbers.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kNoteIndent = 6;

std::string object_of(const Line& line) {
  return line.object.empty() ? "all" : line.object;
}

std::string home_of(const Line& line) {
  return line.home ? std::to_string(*line.home) : "-";
}

std::string one_decimal(double value) {
  return fmt::format("{:.1f}", value);
}

std::string overview(const LineSet& set, const std::vector<Line>& shown, const Painter& paint) {
  Table table({figures("", 2), names("structure", 0, 2), names("object", 0, 2), figures("line", 5), figures("misses", 9),
               dispensable(figures("local %", 9), 3), figures("remote %", 10), figures("latency", 11),
               dispensable(figures("share %", 9), 1), dispensable(figures("home", 6), 2)},
              paint);
  table.add_rule();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Line& line = shown[i];
    const MissSum& misses = line.misses;
    table.add({std::to_string(i + 1), line.structure, object_of(line), std::to_string(line.number),
               std::to_string(misses.count), one_decimal(100 - misses.remote_pct()), one_decimal(misses.remote_pct()),
               readable_ns(misses.latency_ns), one_decimal(misses.latency_share_pct(set.all)), home_of(line)});
  }
  return table.text();
}

std::string use_name(const Line& line, const LineUse& use) {
  const std::string owner = line.object.empty() ? line.structure : line.object;
  return use.field.empty() ? owner : owner + "." + use.field;
}

std::string uses_of(const Line& line, std::size_t number, const Painter& paint) {
  constexpr std::size_t kTitle = 40;  // beside the object's name
  const std::string owner = line.object.empty() ? "all objects of " + line.structure : line.object;
  const std::string home = line.home ? fmt::format("home node {}", *line.home) : "several homes";
  const std::string out = fmt::format("{:>4}  {}, line {}, {}\n", number,
                                      paint(Colour::bold, shortened(owner, paint.columns() - kTitle)), line.number, home);
  Table table({figures("offset", 6), names("object.field", 0, 2), names("function", 0, 2), figures("access", 8),
               figures("samples", 9), dispensable(figures("remote %", 10), 1), figures("mean", 10)},
              paint, 0);
  for (const LineUse& use : line.uses) {
    table.add({std::to_string(use.offset), use_name(line, use), use.function, use.access, std::to_string(use.misses.count),
               one_decimal(use.misses.remote_pct()), readable_ns(use.misses.latency_ns_mean())});
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
