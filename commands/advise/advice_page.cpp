#include "commands/advise/advice_page.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "models/ordinal.hpp"
#include "models/text/template_arguments.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/results/numbers.hpp"
#include "sim/terminal/limits_text.hpp"
#include "trace/losses.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostChanges = 3;

std::string indented_block(std::string text) {
  constexpr std::size_t kIndent = 5;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos && at + 1 < text.size(); at += kIndent + 1)
    text.insert(at + 1, std::string(kIndent, ' '));
  return std::string(kIndent, ' ') + text + (text.ends_with("\n") ? "" : "\n");
}

// The diff; if there is none, a sketch of the change and the reason for having no diff.
std::string edit_text(const AdvisedChange& change, const Painter& paint) {
  std::string out = indented_block(change.diff.empty() ? change.edit : change.diff);
  for (const std::string& caution : change.cautions) out += paragraph("Check: " + caution + ".", 5, Colour::yellow, paint);
  if (change.diff.empty()) {
    if (!change.place.empty()) out += paragraph("at " + change.place, 5, Colour::none, paint);
    if (!change.no_diff.empty()) out += paragraph("No diff: " + change.no_diff, 5, Colour::dim, paint);
    return out;
  }
  if (!change.diff_file.empty())
    out += paragraph(fmt::format("Apply: {} < {}", change.patch, change.diff_file.string()), 5, Colour::cyan, paint);
  return out;
}

std::string change_text(std::size_t number, const AdvisedChange& change, std::size_t recordings, const Painter& paint) {
  std::string out =
      fmt::format("  {}. {}", number, wrapped_from(without_template_arguments(change.what), 5, Colour::bold, paint));
  for (const PredictedGain& gain : change.gains) {
    const Colour colour = gain.change.is_gain() ? Colour::green : gain.change.is_loss() ? Colour::red : Colour::none;
    const std::string text = throughput_text(gain.change);
    const std::string part = gain.part.empty() ? "" : fmt::format(", with {} alone", fmt::join(gain.part, " and "));
    const std::string where =
        fmt::format("on {}{}{}", gain.machine, gain.confirmed ? ", confirmed in other interleavings" : "", part);
    out += "       " + paint(colour, text) + " " + wrapped_from(where, 8 + width_of(text), Colour::none, paint);
  }
  if (!change.seen.empty()) out += paragraph("Seen: " + without_template_arguments(change.seen) + ".", 7, Colour::none, paint);
  if (!change.only_if.empty()) out += paragraph("Only if " + change.only_if + ".", 7, Colour::yellow, paint);
  if (change.alternative_to > 0)
    out += paragraph(fmt::format("An alternative to change {}: both change the same.", change.alternative_to), 7, Colour::none,
                     paint);
  if (!change.remains.empty()) out += paragraph(without_template_arguments(change.remains), 7, Colour::none, paint);
  if (recordings > 1) out += fmt::format("       advised by {} of {} recordings\n", change.recordings, recordings);
  for (const std::string& machine : change.not_tried_on) out += fmt::format("       not tried on {}\n", machine);
  return out + "\n" + edit_text(change, paint);
}

std::string rechecked_text(const AdvicePage& page, const Painter& paint) {
  std::string out;
  for (const Rechecked& it : page.rechecked) {
    const std::string verdict = !it.comparable() ? fmt::format("not comparable, for it has {} operations in place of {}",
                                                               grouped(it.operations), grouped(it.operations_before))
                                : it.is_within() ? "the prediction held"
                                : it.held()      ? "the prediction held within a factor of two"
                                                 : "the prediction did not hold";
    const std::string text = fmt::format("{}: with change {} compiled in and recorded again {}, predicted {}: {}", it.machine,
                                         it.change, throughput_text(it.gain_pct), text_of(it.predicted), verdict);
    out += paragraph(text, 2, it.comparable() && it.held() ? Colour::green : Colour::red, paint);
  }
  return out.empty() ? out : out + "\n";
}

ordered_json rechecked_json(const AdvicePage& page) {
  ordered_json list = ordered_json::array();
  for (const Rechecked& it : page.rechecked) {
    list.push_back({{"machine", it.machine},
                    {"change", it.change},
                    {"operations_before", it.operations_before},
                    {"operations", it.operations},
                    {"comparable", it.comparable()},
                    {"change_pct", rounded(it.gain_pct)},
                    {"predicted_pct", rounded(it.predicted.median_pct)},
                    {"predicted_low_pct", rounded(it.predicted.low_pct)},
                    {"predicted_high_pct", rounded(it.predicted.high_pct)},
                    {"held", it.held()}});
  }
  return list;
}

// The recorded traces by name: "table.lbt"; for several "5 recordings, table.lbt and others".
std::string recordings_text(const AdvicePage& page) {
  return page.recordings == 1 ? page.trace : fmt::format("{} recordings, {} and others", page.recordings, page.trace);
}

std::string seldom_text(const AdvicePage& page, const Painter& paint) {
  std::string out;
  for (const AdvisedChange& change : page.seldom) {
    const std::string text = fmt::format("Only in {} of {} recordings, so by how threads happened to meet there: {}, {} on {}",
                                         change.recordings, page.recordings, without_template_arguments(change.what),
                                         text_of(change.gains.front().change), change.gains.front().machine);
    out += paragraph(text, 2, Colour::none, paint);
  }
  return out.empty() ? out : out + "\n";
}

// Percentages with one decimal that add up to 100.0 (largest remainders).
std::vector<double> percentages(const std::vector<Tick>& ticks, Tick all) {
  std::vector<std::int64_t> tenths;
  std::vector<std::pair<double, std::size_t>> remainders;
  std::int64_t left = 1000;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double exact = all == 0 ? 0 : 1000 * static_cast<double>(ticks[i]) / static_cast<double>(all);
    tenths.push_back(static_cast<std::int64_t>(exact));
    remainders.emplace_back(static_cast<double>(tenths.back()) - exact, i);
    left -= tenths.back();
  }
  std::ranges::sort(remainders);
  for (std::size_t i = 0; i < remainders.size() && left > 0; ++i, --left) ++tenths[remainders[i].second];
  std::vector<double> rounded;
  for (const std::int64_t tenth : tenths) rounded.push_back(static_cast<double>(tenth) / 10);
  return rounded;
}

// "0.4 to 3.6": a share of the time at both ends of the program's pace, with the smaller one first; empty if it is not known or
// the same.
std::string over_pace_text(const TimeAccount& account, const TimeShare& share) {
  const auto over_pace = account.pct_over_pace(share);
  if (!over_pace || !account.has_sizes) return {};
  const auto [fast, slow] = *over_pace;
  const std::string low = fmt::format("{:.1f}", std::min(fast, slow)), high = fmt::format("{:.1f}", std::max(fast, slow));
  return low == high ? "" : fmt::format("{} to {}", low, high);
}

// The shares of one machine's time, the largest first. Shares after the eighth and those below 1 % become one line.
std::string time_text(const TimeAccount& account, const Painter& paint) {
  constexpr std::size_t kMostShares = 8;
  constexpr double kSmallest = 1;  // percent
  std::vector<Tick> ticks;
  Tick rest = 0;
  std::size_t small = 0;
  for (const TimeShare& share : account.shares) {
    if (ticks.size() < kMostShares && account.pct(share.ticks) >= kSmallest) {
      ticks.push_back(share.ticks);
    } else {
      rest += share.ticks;
      ++small;
    }
  }
  const std::size_t shown = ticks.size();
  if (small > 0) ticks.push_back(rest);
  const std::vector<double> pct = percentages(ticks, account.all);
  std::string out = paragraph(fmt::format("Where the threads' time goes on {}:", account.machine), 2, Colour::none, paint);
  const auto line = [&](double share, const std::string& text, Colour colour) {
    const std::string size = account.has_sizes ? fmt::format("{:>5.1f} %", share) : std::string(7, ' ');
    out += fmt::format("    {}  {}", size, wrapped_from(text, 13, colour, paint));
  };
  for (std::size_t i = 0; i < shown; ++i) {
    const TimeShare& share = account.shares[i];
    const std::string range = over_pace_text(account, share);
    line(pct[i], sentence(share) + (range.empty() ? "" : fmt::format(" ({} %)", range)),
         &share == account.bottleneck() ? Colour::bold : Colour::none);
  }
  if (small > 0) line(pct.back(), plural(small, "smaller share"), Colour::dim);
  return out + "\n";
}

std::string words_text(const AdvicePage& page, const Painter& paint) {
  constexpr std::size_t kMostWords = 5;
  if (page.words.empty()) return {};
  const std::vector<std::string> shown(page.words.begin(),
                                       page.words.begin() + std::min<std::ptrdiff_t>(kMostWords, std::ssize(page.words)));
  const std::string more = page.words.size() > kMostWords ? fmt::format("; and {} more", page.words.size() - kMostWords) : "";
  return paragraph(fmt::format("Words that behave like locks: {}{}.", fmt::join(shown, "; "), more), 2, Colour::none, paint) +
         "\n";
}

ordered_json pair_json(const std::optional<FastAndSlow>& fast_and_slow) {
  if (!fast_and_slow) return nullptr;
  return {rounded(fast_and_slow->first), rounded(fast_and_slow->second)};
}

ordered_json size_json(bool is_known, double size) {
  return is_known ? ordered_json(rounded(size)) : ordered_json(nullptr);
}

ordered_json share_json(const TimeAccount& account, const TimeShare& share) {
  return {{"class", key_of(share.what)},
          {"name", share.name},
          {"role", share.role},
          {"source", share.source},
          {"functions", share.functions},
          {"writers", share.writers},
          {"readers", share.readers},
          {"writes", share.writes},
          {"reads", share.reads},
          {"held_pct", size_json(account.has_sizes, share.held_pct)},
          {"ticks", account.has_sizes ? ordered_json(share.ticks) : ordered_json(nullptr)},
          {"pct", size_json(account.has_sizes, account.pct(share.ticks))},
          {"pct_over_pace", account.has_sizes ? pair_json(account.pct_over_pace(share)) : ordered_json(nullptr)},
          {"us_over_pace", account.has_sizes ? pair_json(share.us_over_pace) : ordered_json(nullptr)},
          {"text", sentence(share)}};
}

ordered_json time_json(const std::vector<TimeAccount>& accounts) {
  ordered_json list = ordered_json::array();
  for (const TimeAccount& account : accounts) {
    ordered_json shares = ordered_json::array();
    for (const TimeShare& share : account.shares) shares.push_back(share_json(account, share));
    const TimeShare* bottleneck = account.bottleneck();
    list.push_back({{"machine", account.machine},
                    {"ticks", account.all},
                    {"thread_us", rounded(account.all_us)},
                    {"thread_us_over_pace", pair_json(account.all_us_over_pace)},
                    {"bottleneck", bottleneck == nullptr ? ordered_json(nullptr) : share_json(account, *bottleneck)},
                    {"shares", std::move(shares)}});
  }
  return list;
}

// "BEGIN on M 88.1 % of the threads' time is ..."; empty if no replay finished.
std::string bottleneck_text(const AdvicePage& page, const char* begin) {
  if (page.time.empty()) return {};
  const TimeAccount& account = page.time.front();
  const TimeShare* bottleneck = account.bottleneck();
  if (bottleneck == nullptr) return {};
  if (!account.has_sizes) return fmt::format("{} {} the largest share is {}", begin, account.machine, sentence(*bottleneck));
  const std::string range = over_pace_text(account, *bottleneck);
  return fmt::format("{} {} {:.1f} %{} of the threads' time is {}", begin, account.machine, account.pct(bottleneck->ticks),
                     range.empty() ? "" : fmt::format(" ({} %)", range), sentence(*bottleneck));
}

// Names the best change that has a condition, if it gains more than each that has none; else empty.
std::string larger_gain_text(const AdvicePage& page) {
  if (page.conditional.empty()) return {};
  const AdvisedChange& best = page.conditional.front();
  const PredictedGain& gain = largest_gain(best);
  const bool is_larger = std::ranges::all_of(page.changes, [&gain](const AdvisedChange& change) {
    return largest_gain(change).change.median_pct < gain.change.median_pct;
  });
  if (!is_larger) return {};
  return fmt::format(" A larger gain has a condition: {} on {}, only if {}, to {}.", text_of(gain.change), gain.machine,
                     best.only_if, without_template_arguments(best.what));
}

// Says whether the changes keep their order over the range of the program's pace. Empty if there are not two with such a range.
std::string order_text(const AdvicePage& page) {
  std::vector<const OrdersChange*> gains;
  for (const AdvisedChange& change : page.changes) {
    const PredictedGain& first = change.gains.front();
    if (first.machine == page.changes.front().gains.front().machine && first.change.over_pace) gains.push_back(&first.change);
  }
  if (gains.size() < 2) return {};
  const auto ordered = [&gains](const auto& gain_of) {
    return std::ranges::is_sorted(gains, std::ranges::greater{}, [&](const OrdersChange* it) { return gain_of(*it); });
  };
  std::ranges::sort(gains, std::ranges::greater{}, [](const OrdersChange* it) { return it->median_pct; });
  const bool keeps = ordered([](const OrdersChange& it) { return it.over_pace->fast_pct; }) &&
                     ordered([](const OrdersChange& it) { return it.over_pace->slow_pct; });
  return keeps ? "The order of the changes is the same whether the program computes fast or slowly."
               : "The order of the changes depends on how fast the program computes.";
}

// The lines that --plain adds to the page.
std::vector<std::string> plain_sentences(const AdvicePage& page) {
  std::vector<std::string> sentences;
  for (const Explained& it : page.explained) sentences.push_back(sentence(it));
  for (const OddFunction& it : page.odd) sentences.push_back(sentence(it));
  return sentences;
}

ordered_json explained_json(const AdvicePage& page) {
  ordered_json list = ordered_json::array();
  for (const Explained& it : page.explained) {
    list.push_back({{"machine", it.machine},
                    {"program", it.runs.program},
                    {"processor_us", rounded(it.runs.least_us)},
                    {"low", rounded(it.low)},
                    {"high", rounded(it.high)},
                    {"tells_sizes", it.tells_sizes()}});
  }
  return list;
}

ordered_json odd_json(const AdvicePage& page) {
  ordered_json list = ordered_json::array();
  for (const OddFunction& it : page.odd)
    list.push_back({{"function", it.name}, {"instructions_pct", rounded(it.pct)}, {"cycles", rounded(it.cycles)}});
  return list;
}

std::string verdict(const AdvicePage& page) {
  const std::string why_none = why_no_verdict(page.tries_otherwise_pct);
  if (!why_none.empty()) return fmt::format("No verdict: {}{}.", why_none, bottleneck_text(page, ": on"));
  if (page.limits.may_reverse()) return fmt::format("No verdict{}.", bottleneck_text(page, ". In what was recorded, on"));
  if (page.only_time) return bottleneck_text(page, "On") + ".";
  const std::size_t shown = std::min(kMostChanges, page.changes.size());
  if (shown > 0)
    return fmt::format("{} worth making, by replays of {}.{}", shown == 1 ? "One change is" : plural(shown, "change") + " are",
                       recordings_text(page), larger_gain_text(page));
  if (!page.conditional.empty()) {
    const AdvisedChange& best = page.conditional.front();
    return fmt::format("{}. It helps, only if {}, to {}: {} on {}.", bottleneck_text(page, "On"), best.only_if,
                       without_template_arguments(best.what), text_of(best.gains.front().change), best.gains.front().machine);
  }
  const std::string nothing = page.limits.may_add() ? "No verdict: in what was recorded, nothing" : "Nothing";
  if (!page.depends.empty())
    return nothing + " is worth changing on all of these machines; what gains on one loses on another.";
  return fmt::format("{} that was tried is worth changing{}{}.", nothing, bottleneck_text(page, ": on"),
                     tries_text(page.tries_otherwise_pct, "; "));
}

ordered_json over_pace_json(const OrdersChange& change) {
  if (!change.over_pace || !change.has_size) return nullptr;
  return {rounded(change.over_pace->fast_pct), rounded(change.over_pace->slow_pct)};
}

ordered_json changes_json(const std::vector<AdvisedChange>& changes) {
  ordered_json list = ordered_json::array();
  for (const AdvisedChange& change : changes) {
    ordered_json gains = ordered_json::array();
    for (const PredictedGain& gain : change.gains) {
      gains.push_back({{"machine", gain.machine},
                       {"change_pct", size_json(gain.change.has_size, gain.change.median_pct)},
                       {"change_low_pct", size_json(gain.change.has_size, gain.change.low_pct)},
                       {"change_high_pct", size_json(gain.change.has_size, gain.change.high_pct)},
                       {"change_over_pace_pct", over_pace_json(gain.change)},
                       {"confirmed", gain.confirmed},
                       {"part", gain.part}});
    }
    list.push_back({{"what", change.what},
                    {"seen", change.seen},
                    {"only_if", change.only_if},
                    {"alternative_to", change.alternative_to},
                    {"remains", change.remains},
                    {"edit", change.edit},
                    {"source", change.place},
                    {"diff", change.diff},
                    {"no_diff", change.no_diff},
                    {"cautions", change.cautions},
                    {"gains", std::move(gains)},
                    {"recordings", change.recordings},
                    {"not_tried_on", change.not_tried_on}});
  }
  return list;
}

}  // namespace

const PredictedGain& largest_gain(const AdvisedChange& change) {
  return *std::ranges::max_element(change.gains, {}, [](const PredictedGain& gain) { return gain.change.median_pct; });
}

bool Rechecked::comparable() const {
  constexpr double kOther = 0.05;
  const auto before = static_cast<double>(operations_before);
  return std::abs(static_cast<double>(operations) - before) <= kOther * before;
}

bool Rechecked::is_within() const {
  return gain_pct >= predicted.low_pct && gain_pct <= predicted.high_pct;
}

bool Rechecked::held() const {
  const double expected = std::max(predicted.median_pct, kWorthIt);
  return is_within() || (gain_pct >= expected / 2 && gain_pct <= 2 * expected);
}

std::string advice_page_text(const AdvicePage& page, const Painter& paint) {
  std::string out = limits_text(page.limits, 2, paint) + basis_text(page.basis, 2, paint);
  for (const std::string& text : plain_sentences(page)) out += basis_text(text, 2, paint);
  out += basis_text(order_text(page), 2, paint);
  out += paragraph(verdict(page), 2, Colour::bold, paint) + "\n";
  for (const TimeAccount& account : page.time) {
    if (account.all > 0) out += time_text(account, paint);
  }
  out += words_text(page, paint);
  for (std::size_t i = 0; i < std::min(kMostChanges, page.changes.size()); ++i)
    out += change_text(i + 1, page.changes[i], page.recordings, paint) + "\n";
  if (!page.depends.empty()) out += "  Only on some machines:\n\n";
  for (std::size_t i = 0; i < std::min(kMostChanges, page.depends.size()); ++i)
    out += change_text(i + 1, page.depends[i], 1, paint) + "\n";
  if (!page.conditional.empty()) out += "  Only if the program can do without something:\n\n";
  for (std::size_t i = 0; i < std::min(kMostChanges, page.conditional.size()); ++i)
    out += change_text(page.changes.size() + i + 1, page.conditional[i], 1, paint) + "\n";
  out += rechecked_text(page, paint);
  out += seldom_text(page, paint);
  for (const std::string& tried : page.also_gains)
    out += paragraph("Gains too, but unconfirmed, or no more than what is advised: " + without_template_arguments(tried) + ".",
                     2, Colour::none, paint);
  for (const std::string& tried : page.no_help)
    out += paragraph("Tried without a gain: " + without_template_arguments(tried) + ".", 2, Colour::none, paint);
  if (!page.also_gains.empty() || !page.no_help.empty()) out += "\n";
  for (const std::string& sentence : page.not_offered)
    out += paragraph("Not offered: " + without_template_arguments(sentence) + ".", 2, Colour::none, paint);
  if (!page.not_offered.empty()) out += "\n";
  if (!page.not_tried.empty()) out += fmt::format("  Not tried: {}.\n\n", fmt::join(page.not_tried, "; "));
  out += not_seen_text(trace::missing_beside_limits(page.missing), paint) + assumptions_text(page.assumptions, paint);
  if (page.only_time) return out;
  const std::string note = fmt::format(
      "Each gain is the median of paired replays in several orders of the same operations; in brackets is the 95 % interval of "
      "their geometric mean{}. The gains are for {} and for this input only.",
      page.recordings > 1 ? ", from the lowest to the highest end in any recording; the median is that of the recordings" : "",
      fmt::join(page.machines, " and "));
  return out + "\n  " + wrapped_from(note, 2, Colour::dim, paint);
}

namespace {

// The rows of the table of losses (trace::LossKind) for those sentences that come from it.
ordered_json losses_json(const std::vector<std::string>& missing) {
  ordered_json losses = ordered_json::array();
  for (const std::string& sentence : missing) {
    const trace::LossKind* kind = trace::kind_of_sentence(sentence);
    if (kind == nullptr) continue;
    losses.push_back(
        {{"name", kind->name}, {"severity", trace::kSeverityNames[ordinal(kind->severity)]}, {"sentence", sentence}});
  }
  return losses;
}

}  // namespace

ordered_json advice_page_json(const AdvicePage& page) {
  return {{"schema", "linebounce.advise/1"},
          {"trace", page.trace},
          {"machines", page.machines},
          {"verdict", behind_limits(page.limits, verdict(page))},
          {"basis", page.basis},
          {"order", order_text(page)},
          {"explained", explained_json(page)},
          {"odd_functions", odd_json(page)},
          {"limits", limits_json(page.limits)},
          {"tries_otherwise_pct", rounded(page.tries_otherwise_pct)},
          {"time", time_json(page.time)},
          {"changes", changes_json(page.changes)},
          {"depends", changes_json(page.depends)},
          {"conditional", changes_json(page.conditional)},
          {"recordings", page.recordings},
          {"seldom", changes_json(page.seldom)},
          {"recheck", rechecked_json(page)},
          {"words", page.words},
          {"also_gains", page.also_gains},
          {"no_help", page.no_help},
          {"not_offered", page.not_offered},
          {"not_tried", page.not_tried},
          {"missing", page.missing},
          {"losses", losses_json(page.missing)},
          {"assumptions", page.assumptions}};
}

}  // namespace linebounce::sim
