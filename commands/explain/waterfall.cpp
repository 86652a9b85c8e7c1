#include "commands/explain/waterfall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "models/ordinal.hpp"
#include "sim/statistics/source_names.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kWaterfallBar = 24;
constexpr std::size_t kWaitIndent = 4;

std::string tenths(double ns) {
  return fmt::format("{:.1f}", ns);
}

std::string percentile_name(int percentile) {
  return percentile == 50 ? "Median" : fmt::format("{} %", percentile);
}

std::string who_misses(const ExplainedMiss& miss) {
  const std::string word = miss.object.empty() ? fmt::format("address 0x{:x}", miss.miss.address)
                                               : miss.object + (miss.field.empty() ? "" : "." + miss.field);
  return fmt::format("CPU {} on node {}, {} of {} in {}", miss.miss.cpu.value, miss.node,
                     kAccessNames[ordinal(miss.miss.access)], word, miss.function);
}

// A bar as long as the row's share of the miss's latency, at the position where the row begins.
std::string bar_of(const WaterfallRow& row, Tick latency) {
  const auto place = [latency](Tick at) { return static_cast<std::size_t>(at * static_cast<Tick>(kWaterfallBar) / latency); };
  const std::size_t begin = std::min(place(row.start), kWaterfallBar - 1);
  const std::size_t end = std::max(begin + 1, place(row.start + row.ticks));
  return std::string(begin, ' ') + repeated(row.waits ? "░" : "█", end - begin);
}

// "300.0 ns at node 0's directory, 12.4 ns at bus 1": the waiting times, the longest first.
std::string by_resource(const std::vector<WaterfallRow>& rows, double ns_per_tick) {
  std::map<std::string, Tick> waits;
  for (const WaterfallRow& row : rows) {
    if (row.waits) waits[row.at] += row.ticks;
  }
  std::vector<std::pair<Tick, std::string>> sorted;
  for (const auto& [at, ticks] : waits) sorted.emplace_back(-ticks, at);
  std::ranges::sort(sorted);
  std::string text;
  for (const auto& [ticks, at] : sorted) {
    text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", tenths(-static_cast<double>(ticks) * ns_per_tick), at);
  }
  return text;
}

// A paragraph for each kind of wait at each resource, the longest total first: "directory: waits 640 ns behind 14 requests
// ...".
std::string wait_sentences(const std::vector<WaterfallRow>& rows, double ns_per_tick, const Painter& paint) {
  struct Waits {
    Tick ticks = 0, longest = 0;
    int count = 0;
    std::string name, at, text = {};
  };
  std::vector<Waits> all;
  for (const WaterfallRow& row : rows) {
    if (!row.waits) continue;
    auto same = std::ranges::find_if(all, [&](const Waits& it) { return it.name == row.name && it.at == row.at; });
    if (same == all.end()) same = all.insert(all.end(), {.name = row.name, .at = row.at});
    same->ticks += row.ticks;
    ++same->count;
    if (row.ticks > same->longest) {
      same->longest = row.ticks;
      same->text = row.text;
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Waits::ticks);
  std::string out;
  for (const Waits& it : all) {
    const std::string often =
        it.count == 1 ? ""
                      : fmt::format("{} times, {} ns; once it ", it.count, tenths(static_cast<double>(it.ticks) * ns_per_tick));
    out += paragraph("* " + it.name + ": " + often + it.text, kWaitIndent, Colour::none, paint);
  }
  return out;
}

}  // namespace

std::string waterfall_text(const ExplainedMiss& miss, const Endpoints& endpoints, double ns_per_tick, const Painter& paint) {
  const auto ns = [ns_per_tick](Tick ticks) { return static_cast<double>(ticks) * ns_per_tick; };
  const std::vector<WaterfallRow> rows = waterfall(miss, endpoints, ns_per_tick);
  const Tick latency = miss.miss.latency;
  Table table({figures("start ns", 10), figures("ns", 9), words("stage", 0, 2), names("where", 0, 2),
               dispensable(words("", kWaterfallBar, 2), 1)},
              paint);
  table.add_rule();
  for (const WaterfallRow& row : folded(rows)) {
    const Colour colour = row.waits ? Colour::yellow : Colour::cyan;
    table.add({tenths(ns(row.start)),
               tenths(ns(row.ticks)),
               {row.waits ? "* " + row.name : row.name, row.waits ? Colour::yellow : Colour::none},
               row.at,
               {bar_of(row, latency), colour}});
  }
  table.add_rule();
  const std::string head = fmt::format("{}: {} ns", percentile_name(miss.percentile), tenths(ns(latency)));
  std::string out =
      "  " + paint(Colour::bold, head) + "  " + wrapped_from(who_misses(miss), head.size() + 4, Colour::none, paint);
  out += "\n" + table.text();
  const Tick queued = miss.queued();
  std::string sum =
      fmt::format("{} ns = {} travel + {} queueing", tenths(ns(latency)), tenths(ns(latency - queued)), tenths(ns(queued)));
  if (queued > 0) sum += " (" + by_resource(rows, ns_per_tick) + ")";
  out += paragraph(sum, 2, Colour::none, paint);
  if (miss.joined) out += paragraph("Its core had asked for the line before.", kWaitIndent, Colour::none, paint);
  return out + wait_sentences(rows, ns_per_tick, paint);
}

}  // namespace linebounce::sim
