#include "commands/layout/layout_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/results/numbers.hpp"
#include "sim/terminal/layout_drawing.hpp"
#include "sim/terminal/limits_text.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMessageWidth = 72;
constexpr std::size_t kMostPairs = 12;

std::string layout_misses_text(const LayoutGain& gain) {
  return fmt::format("{} -> {}", grouped(std::llround(gain.misses_before)), grouped(std::llround(gain.misses_after)));
}

std::string layout_verdict(const LayoutReport& report) {
  if (report.limits.may_reverse()) return report.structure + ": no verdict";
  const std::string begin = report.structure + (report.limits.may_add() ? ": no verdict; in what was recorded, " : ": ");
  if (report.tried.empty())
    return fmt::format("{}no order of its members{} moves fewer lines between CPUs than the present one", begin,
                       report.max_size ? fmt::format(" within {} bytes", *report.max_size) : "");
  if (!report.best) return begin + "no layout gains by more than chance on any machine without a loss on another";
  const TriedLayout& best = report.tried[*report.best];
  std::vector<std::string> gains;
  for (const LayoutGain& gain : report.confirmed)
    gains.push_back(fmt::format("{} on {}", throughput_text(gain.change), gain.machine));
  return fmt::format("{}: {}, of {} bytes (now {}): {}", report.structure, best.arranged.name, best.arranged.layout.size,
                     report.touched.layout.size, fmt::join(gains, " and "));
}

// A table of the replayed layouts: each one's size, cost in the model, and on each machine its gain and misses.
std::string tried_table(const LayoutReport& report, const Painter& paint) {
  Table table({names("layout"), figures("bytes", 6), figures("model", 7, 1), names("machine", 0, 1), words("gain", 0, 1),
               words("misses", 0, 1)},
              paint);
  table.add({"present", std::to_string(report.touched.layout.size), fmt::format("{:.0f}", report.present_cost)});
  for (const TriedLayout& tried : report.tried) {
    bool first = true;
    for (const LayoutGain& gain : tried.gains) {
      const Colour colour = gain.change.is_gain() ? Colour::green : gain.change.is_loss() ? Colour::red : Colour::none;
      table.add({first ? tried.arranged.name : "",
                 first ? std::to_string(tried.arranged.layout.size) : "",
                 first ? fmt::format("{:.0f}", tried.cost) : "",
                 gain.machine,
                 {text_of(gain.change), colour},
                 layout_misses_text(gain)});
      first = false;
    }
  }
  return table.text();
}

std::string pair_text(const StructureAccesses& touched, const SharedPair& pair) {
  return fmt::format("{} ({}) and {} ({})", touched.units[pair.one].name, users_text(touched.uses[pair.one]),
                     touched.units[pair.other].name, users_text(touched.uses[pair.other]));
}

std::string pairs_text(const StructureAccesses& touched, const std::vector<SharedPair>& pairs, const std::string& title,
                       std::size_t indent, std::size_t width) {
  if (pairs.empty()) return "";
  std::string out = title + "\n";
  for (std::size_t i = 0; i < std::min(pairs.size(), kMostPairs); ++i) {
    bool first = true;
    for (const std::string& line : wrapped(pair_text(touched, pairs[i]), width - indent - 2)) {
      out += std::string(indent, ' ') + (first ? "- " : "  ") + line + "\n";
      first = false;
    }
  }
  if (pairs.size() > kMostPairs) out += fmt::format("{}- and {} more\n", std::string(indent, ' '), pairs.size() - kMostPairs);
  return out;
}

ordered_json gain_json(const LayoutGain& gain) {
  return {{"machine", gain.machine},
          {"gain_pct", rounded(gain.change.median_pct)},
          {"low_pct", rounded(gain.change.low_pct)},
          {"high_pct", rounded(gain.change.high_pct)},
          {"orders", gain.change.orders},
          {"is_gain", gain.change.is_gain()},
          {"is_loss", gain.change.is_loss()},
          {"misses_before", std::llround(gain.misses_before)},
          {"misses_after", std::llround(gain.misses_after)}};
}

ordered_json gains_json(const std::vector<LayoutGain>& gains) {
  ordered_json list = ordered_json::array();
  for (const LayoutGain& gain : gains) list.push_back(gain_json(gain));
  return list;
}

ordered_json uses_json(const StructureAccesses& touched) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < touched.units.size(); ++i) {
    const UnitUse& use = touched.uses[i];
    if (use.all() == 0) continue;
    list.push_back({{"name", touched.units[i].name},
                    {"reads", use.reads()},
                    {"writes", use.writes()},
                    {"writing_cpus", use.writing_cpus()},
                    {"users", users_text(use)}});
  }
  return list;
}

ordered_json pairs_json(const StructureAccesses& touched, const std::vector<SharedPair>& pairs) {
  ordered_json list = ordered_json::array();
  for (const SharedPair& pair : pairs)
    list.push_back(ordered_json::array({touched.units[pair.one].name, touched.units[pair.other].name}));
  return list;
}

// "  line 1  usage (read, written), limit, ...", wrapped. Lists only members that are used; one without a mark is only read.
std::string touched_lines(const StructureAccesses& touched, const Layout& layout, int line_bytes) {
  const std::vector<int> begins = begins_in(touched, layout);
  std::map<int, std::vector<std::string>> lines;
  std::vector<std::pair<int, std::size_t>> order;
  for (std::size_t unit = 0; unit < begins.size(); ++unit) order.emplace_back(begins[unit], unit);
  std::ranges::sort(order);
  for (const auto& [begin, unit] : order) {
    const UnitUse& use = touched.uses[unit];
    if (use.all() == 0) continue;
    const char* mark = use.writes() == 0 ? "" : use.reads() == 0 ? " (written)" : " (read, written)";
    lines[begin / line_bytes].push_back(touched.units[unit].name + mark);
  }
  std::string out;
  for (const auto& [line, members] : lines) {
    bool first = true;
    const std::string begin = fmt::format("  line {:<3}", line);
    for (const std::string& text : wrapped(fmt::format("{}", fmt::join(members, ", ")), kMessageWidth - begin.size())) {
      out += (first ? begin : std::string(begin.size(), ' ')) + text + "\n";
      first = false;
    }
  }
  return out;
}

}  // namespace

std::string layout_report_text(const LayoutReport& report, const Painter& paint) {
  std::string out = limits_text(report.limits, 0, paint) + basis_text(report.basis, 0, paint) +
                    paint(Colour::bold, layout_verdict(report)) + "\n\n";
  if (!report.tried.empty()) out += tried_table(report, paint) + "\n";
  out +=
      paragraph(fmt::format("{} of {} members are touched; they were divided among lines of {} bytes. \"model\" counts lines "
                            "that move between CPUs, by the order of one replay.",
                            report.searched, report.touched.units.size(), report.line_bytes),
                2, Colour::dim, paint);
  if (report.best) {
    const TriedLayout& best = report.tried[*report.best];
    out += "\nBefore\n" + drawn_layout(layout_of_units(report.touched.layout), report.line_bytes, paint);
    out += "\nAfter: " + best.arranged.name + "\n" +
           drawn_layout(layout_of_units(best.arranged.layout), report.line_bytes, paint) + "\n";
    const LayoutDifference lines = difference(report.touched, begins_in(report.touched, report.touched.layout),
                                              begins_in(report.touched, best.arranged.layout), report.line_bytes);
    out += pairs_text(report.touched, lines.apart, "No longer on one line:", 2, paint.columns());
    out += pairs_text(report.touched, lines.together, "Now on one line:", 2, paint.columns());
    if (report.patch && !report.patch->diff.empty()) {
      out += "\n" + report.patch->diff;
      if (!report.patch->file.empty()) out += "\nThe diff is in " + report.patch->file + "\n";
      for (const std::string& caution : report.patch->cautions) out += paragraph(caution, 2, Colour::yellow, paint);
    } else {
      if (report.patch) out += "\n" + paragraph("No diff: " + report.patch->why_not, 0, Colour::none, paint);
      out += "\n" + report.declaration;
    }
    if (!report.assertions.empty()) out += "\n" + report.assertions;
  }
  return out + assumptions_text(report.assumptions, paint) + not_seen_text(trace::missing_beside_limits(report.missing), paint);
}

ordered_json layout_report_json(const LayoutReport& report) {
  ordered_json tried = ordered_json::array();
  for (const TriedLayout& it : report.tried) {
    tried.push_back({{"name", it.arranged.name},
                     {"size_bytes", it.arranged.layout.size},
                     {"model_cost", rounded(it.cost)},
                     {"exact", it.exact},
                     {"gains", gains_json(it.gains)},
                     {"layout", layout_to_json(it.arranged.layout, report.line_bytes)},
                     {"change", it.arranged.change}});
  }
  ordered_json out = {{"schema", "linebounce.layout/1"},
                      {"structure", report.structure},
                      {"accesses", report.accesses},
                      {"line_bytes", report.line_bytes},
                      {"size_bytes", report.touched.layout.size},
                      {"model_cost", rounded(report.present_cost)},
                      {"touched", uses_json(report.touched)},
                      {"before", layout_to_json(report.touched.layout, report.line_bytes)},
                      {"tried", std::move(tried)},
                      {"best", report.best ? ordered_json(report.tried[*report.best].arranged.name) : ordered_json()},
                      {"confirmed", gains_json(report.confirmed)},
                      {"declaration", report.declaration},
                      {"assertions", report.assertions}};
  if (report.patch)
    out["patch"] = {{"diff", report.patch->diff}, {"why_not", report.patch->why_not}, {"place", report.patch->place}};
  out["basis"] = report.basis;
  out["limits"] = limits_json(report.limits);
  out["missing"] = report.missing;
  out["assumptions"] = report.assumptions;
  return out;
}

std::string layout_diff_text(const LayoutDiffReport& report) {
  std::string out;
  for (const trace::Limit& limit : report.limits.all()) {
    for (const std::string& line : wrapped(limit.sentence, kMessageWidth)) out += line + "\n";
  }
  if (!report.basis.empty()) {
    for (const std::string& line : wrapped(report.basis, kMessageWidth)) out += line + "\n";
  }
  out += fmt::format("{} -> {}\n\n", report.before, report.after);
  out += fmt::format("before: {} bytes\n", report.before_layout.size) +
         touched_lines(report.touched, report.before_layout, report.line_bytes);
  out += fmt::format("after: {} bytes\n", report.after_layout.size) +
         touched_lines(report.touched, report.after_layout, report.line_bytes) + "\n";
  out += pairs_text(report.touched, report.lines.apart, "No longer on one line:", 2, kMessageWidth);
  out += pairs_text(report.touched, report.lines.together, "Now on one line:", 2, kMessageWidth);
  if (report.lines.apart.empty() && report.lines.together.empty())
    out += "The same members share lines, as far as any of them is written.\n";
  for (const auto& [members, where] : {std::pair{&report.only_before, "before"}, std::pair{&report.only_after, "after"}}) {
    if (members->empty()) continue;
    for (const std::string& line : wrapped(fmt::format("Only {}: {}", where, fmt::join(*members, ", ")), kMessageWidth))
      out += line + "\n";
  }
  out += fmt::format("\nThroughput of a replay, {}:\n", plural(report.orders, "order"));
  for (const LayoutGain& gain : report.gains) {
    out += fmt::format("  {:<24} {}\n", gain.machine, text_of(gain.change));
    out += fmt::format("  {:<24} misses: {}\n", "", layout_misses_text(gain));
  }
  return out;
}

ordered_json layout_diff_json(const LayoutDiffReport& report) {
  return {{"schema", "linebounce.layout_diff/1"},
          {"before", report.before},
          {"after", report.after},
          {"line_bytes", report.line_bytes},
          {"touched", uses_json(report.touched)},
          {"layout_before", layout_to_json(report.before_layout, report.line_bytes)},
          {"layout_after", layout_to_json(report.after_layout, report.line_bytes)},
          {"apart", pairs_json(report.touched, report.lines.apart)},
          {"together", pairs_json(report.touched, report.lines.together)},
          {"only_before", report.only_before},
          {"only_after", report.only_after},
          {"gains", gains_json(report.gains)},
          {"basis", report.basis},
          {"limits", limits_json(report.limits)},
          {"missing", report.missing},
          {"assumptions", report.assumptions}};
}

}  // namespace linebounce::sim
