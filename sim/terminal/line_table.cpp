#include "sim/terminal/line_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

std::string object_of(const Line& line) {
  return line.object.empty() ? "all" : line.object;
}

std::string home_of(const Line& line) {
  return line.home ? std::to_string(*line.home) : "-";
}

std::string percent(double value) {
  return fmt::format("{:.1f}", value);
}

// The widest of a column's texts, but not more than there is room for.
template <class Things, class Text>
std::size_t width_for(const Things& things, const Text& text, std::size_t least, std::size_t most) {
  std::size_t width = least;
  for (const auto& thing : things) width = std::max(width, width_of(text(thing)));
  return std::min(width, most);
}

std::string overview(const LineSet& set, const std::vector<Line>& shown, const Painter& paint) {
  constexpr std::size_t kFigures = 4 + 2 + 2 + 5 + 9 + 9 + 10 + 11 + 9 + 6;  // of a row, beside the two names
  const auto structure_of = [](const Line& line) { return line.structure; };
  const std::size_t room = paint.columns() - kFigures;
  const std::size_t objects = width_for(shown, object_of, 6, room * 3 / 5);
  const std::size_t structures = width_for(shown, structure_of, 9, room - objects);
  const auto names = [&](const std::string& structure, const std::string& object) {
    return pad_right(shortened(structure, structures), structures) + "  " + pad_right(shortened(object, objects), objects);
  };
  std::string out =
      paint(Colour::dim, fmt::format("{:>4}  {}{:>5}{:>9}{:>9}{:>10}{:>11}{:>9}{:>6}", "", names("structure", "object"), "line",
                                     "misses", "local %", "remote %", "latency", "share %", "home")) +
      "\n" + rule(paint, objects + structures + kFigures - 2);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Line& line = shown[i];
    const MissSum& misses = line.misses;
    out += fmt::format("{:>4}  {}{:>5}{:>9}{:>9}{:>10}{}{:>9}{:>6}\n", i + 1, names(line.structure, object_of(line)),
                       line.number, misses.count, percent(100 - misses.remote_pct()), percent(misses.remote_pct()),
                       pad_left(readable_ns(misses.latency_ns), 11), percent(misses.latency_share_pct(set.all)), home_of(line));
  }
  return out;
}

std::string use_name(const Line& line, const LineUse& use) {
  const std::string owner = line.object.empty() ? line.structure : line.object;
  return use.field.empty() ? owner : owner + "." + use.field;
}

std::string uses_of(const Line& line, std::size_t number, const Painter& paint) {
  constexpr std::size_t kTitle = 40;  // beside the object's name
  constexpr std::size_t kFigures = 6 + 2 + 2 + 8 + 9 + 10 + 10;
  const auto name = [&line](const LineUse& use) { return use_name(line, use); };
  const std::size_t room = paint.columns() - kFigures - 4;
  const std::size_t fields = width_for(line.uses, name, 12, room / 2 + 2);
  const std::size_t functions = width_for(
      line.uses, [](const LineUse& use) { return use.function; }, 8, room - fields);
  const std::string owner = line.object.empty() ? "all objects of " + line.structure : line.object;
  const std::string home = line.home ? fmt::format("home node {}", *line.home) : "several homes";
  std::string out = fmt::format("{:>4}  {}, line {}, {}\n", number,
                                paint(Colour::bold, shortened(owner, paint.columns() - kTitle)), line.number, home);
  out += paint(Colour::dim, fmt::format("{:>6}  {}  {}{:>8}{:>9}{:>10}{:>10}", "offset", pad_right("object.field", fields),
                                        pad_right("function", functions), "access", "samples", "remote %", "mean")) +
         "\n";
  for (const LineUse& use : line.uses) {
    out += fmt::format("{:>6}  {}  {}{:>8}{:>9}{:>10}{}\n", use.offset, pad_right(shortened(name(use), fields), fields),
                       pad_right(shortened(use.function, functions), functions), use.access, use.misses.count,
                       percent(use.misses.remote_pct()), pad_left(readable_ns(use.misses.latency_ns_mean()), 10));
  }
  return out;
}

}  // namespace

std::string line_table(const LineSet& set, std::size_t most, const Painter& paint) {
  if (set.lines.empty()) return "";
  const std::vector<Line> shown(set.lines.begin(),
                                set.lines.begin() + static_cast<std::ptrdiff_t>(std::min(most, set.lines.size())));
  std::string out = overview(set, shown, paint);
  if (shown.size() < set.lines.size()) {
    out +=
        paint(Colour::dim, fmt::format("      {} of {} lines, those with the most latency", shown.size(), set.lines.size())) +
        "\n";
  }
  if (set.arrays.count > 0) {
    out += paint(Colour::dim, fmt::format("      plain arrays, whose lines are not told apart: {} % of the latency",
                                          percent(set.arrays.latency_share_pct(set.all)))) +
           "\n";
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
  std::stable_sort(shares.begin(), shares.end(),
                   [](const SubsystemShare& a, const SubsystemShare& b) { return a.latency_pct > b.latency_pct; });
  return shares;
}

std::string subsystem_table(const std::map<std::string, ReportedMetric>& metrics, const Painter& paint) {
  constexpr double kPercentOfABlock = 2;
  const std::vector<SubsystemShare> shares = subsystem_shares(metrics);
  if (shares.empty()) return "";
  const std::size_t names = width_for(
      shares, [](const SubsystemShare& share) { return share.name; }, 9, 40);
  std::string out = "  " + paint(Colour::bold, "The kernel's 500 lines with the most latency, by subsystem") + "\n" +
                    paint(Colour::dim, fmt::format("  {}{:>10}{:>11}", pad_right("", names), "misses %", "latency %")) + "\n";
  for (const SubsystemShare& share : shares) {
    const auto blocks = static_cast<std::size_t>(share.latency_pct / kPercentOfABlock);
    out +=
        trimmed(fmt::format("  {}{:>10}{:>11}  {}", pad_right(shortened(share.name, names), names), percent(share.misses_pct),
                            percent(share.latency_pct), paint(Colour::cyan, repeated("█", blocks)))) +
        "\n";
  }
  return out;
}

}  // namespace linebounce::sim
