#include "commands/advise/sharing_report.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/ordinal.hpp"
#include "models/text/template_arguments.hpp"
#include "sim/answer/quantity.hpp"
#include "sim/results/numbers.hpp"
#include "sim/terminal/limits_text.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

// The field's name. For an array whose elements are its only fields, "counts[3]" instead of "counts.[3]".
std::string place_of(const Piece& piece, const trace::Symbols& symbols) {
  std::string name = symbols.place_name(piece.object, piece.offset);
  if (const std::size_t element = name.find(".["); element != std::string::npos) name.erase(element, 1);
  return name;
}

std::string users_of(const Piece& piece, const trace::Symbols& symbols) {
  // `written` is false if there were few writes. A user without any read must have written.
  const std::string writes = piece.written || piece.reads == 0 ? "written" : "read";
  switch (piece.users) {
    case Users::one: return fmt::format("{} by {}", writes, symbols.streams.at(piece.thread).name);
    case Users::readers: return "read by several";
    case Users::writers: break;
  }
  return "written by several";
}

std::string line_name(const CostlyLine& line, const trace::Symbols& symbols) {
  return place_of(line.line.pieces.front(), symbols);
}

std::string line_text(const CostlyLine& line, const trace::Symbols& symbols, const Painter& paint) {
  constexpr std::size_t kMostPieces = 8;
  const std::string out =
      fmt::format("  {}  {}\n", paint(Colour::bold, shortened(line_name(line, symbols), 40)),
                  paint(Colour::dim, fmt::format("{} misses, {} of latency{}", figure(static_cast<double>(line.misses)),
                                                 quantity(line.latency_us, {}, "us"),
                                                 line.line.in_turn ? ", by slots that threads use in turn" : "")));
  const auto& pieces = line.line.pieces;
  const std::size_t place_width = is_narrow(paint) ? 0 : 38, users_width = is_narrow(paint) ? 0 : 30;
  Table table({names("", place_width), words("", users_width, 2), words("", 0, is_narrow(paint) ? 2 : 0)}, paint, 4);
  for (std::size_t i = 0; i < std::min(kMostPieces, pieces.size()); ++i) {
    table.add({place_of(pieces[i], symbols),
               users_of(pieces[i], symbols),
               {fmt::format("{} reads, {} writes", pieces[i].reads, pieces[i].writes), Colour::dim}});
  }
  if (pieces.size() > kMostPieces) table.add_text(fmt::format("    and {} more\n", pieces.size() - kMostPieces));
  return out + table.text();
}

std::string indented(const std::string& text, const std::string& by) {
  std::string out = by;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) out += by;
  }
  return out;
}

// Shows the gain in the confirming orders if the proposal ran in them, else the gain in the orders that chose it.
std::string proposal_text(std::size_t number, const TriedProposal& tried, const SharingReport& report, const Painter& paint) {
  const bool again = report.again && report.again->name == tried.proposal.name;
  const std::string gain = fmt::format(
      "{}{}, transfers of lines {:.0f} → {:.0f}", throughput_text(again ? report.again->change : tried.change),
      again ? fmt::format(" in {} more orders", report.again->change.orders) : "", tried.misses_before, tried.misses_after);
  const std::size_t column = 4 + 2 + width_of(tried.proposal.name) + 2;
  std::string out = fmt::format("{:>4}  {}  {}", number, paint(Colour::bold, tried.proposal.name),
                                wrapped_from(gain, column, Colour::green, paint));
  out += paragraph(without_template_arguments(tried.proposal.sentence), 6, Colour::none, paint);
  out += indented(tried.proposal.drawing, "        ");
  return out + paint(Colour::dim, indented(tried.proposal.change, "      "));
}

ordered_json piece_json(const Piece& piece, const trace::Symbols& symbols) {
  constexpr std::array kUsers = {"one", "readers", "writers"};
  return {{"place", place_of(piece, symbols)},
          {"bytes", piece.bytes},
          {"users", kUsers.at(ordinal(piece.users))},
          {"thread", piece.users == Users::one ? ordered_json(symbols.streams.at(piece.thread).name) : ordered_json(nullptr)},
          {"reads", piece.reads},
          {"writes", piece.writes}};
}

ordered_json proposal_json(const TriedProposal& tried) {
  return {{"name", tried.proposal.name},
          {"structure", tried.proposal.structure},
          {"what", tried.proposal.sentence},
          {"change", tried.proposal.change},
          {"drawing", tried.proposal.drawing},
          {"latency_us", rounded(tried.latency_us)},
          {"throughput_change_pct", rounded(tried.change.median_pct)},
          {"throughput_change_low_pct", rounded(tried.change.low_pct)},
          {"throughput_change_high_pct", rounded(tried.change.high_pct)},
          {"gains", tried.change.is_gain()},
          {"transfers_before", rounded(tried.misses_before)},
          {"transfers_after", rounded(tried.misses_after)}};
}

// "args[0] (4000 accesses)".
std::string elsewhere_name(const ElsewhereShared& it, const trace::Symbols& symbols) {
  return fmt::format("{} ({} accesses)", shortened(place_of(it.line.pieces.front(), symbols), 40), it.line.disturbed);
}

// Warns about slots used in turn, because the model is known to overestimate their gain on processors that fetch ahead.
std::string slots_text(const SharingReport& report, const Painter& paint) {
  if (std::ranges::none_of(report.lines, [](const CostlyLine& line) { return line.line.in_turn; })) return {};
  return "\n  " + wrapped_from(
                      "Slots that threads use in turn are shared falsely in time: while one thread uses its slot, another "
                      "uses the next one on the line. No processor of ours fetches the next slots early; one that does "
                      "gains less by slots on lines of their own, or loses, for it then fetches more lines.",
                      2, Colour::none, paint);
}

std::string elsewhere_text(const SharingReport& report, const trace::Symbols& symbols, const Painter& paint) {
  constexpr std::size_t kMost = 3;
  std::string out;
  const auto sentence = [&](const std::string& text) { out += "\n  " + wrapped_from(text, 2, Colour::none, paint); };
  const auto more = [](const std::vector<ElsewhereShared>& all) {
    return all.size() > kMost ? fmt::format(", and {} more", all.size() - kMost) : "";
  };
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kMost, report.elsewhere.size()); ++i) {
    const ElsewhereShared& it = report.elsewhere[i];
    names.push_back(fmt::format("{} if it lay {} bytes further on", elsewhere_name(it, symbols), fmt::join(it.shifts, " or ")));
  }
  if (!names.empty())
    sentence(fmt::format("Not shared falsely by luck of this heap (workload.heap_shift shows the other places): {}{}",
                         fmt::join(names, "; "), more(report.elsewhere)));
  names.clear();
  for (std::size_t i = 0; i < std::min(kMost, report.in_pairs.size()); ++i)
    names.push_back(elsewhere_name(report.in_pairs[i], symbols));
  if (!names.empty())
    sentence(fmt::format("Not simulated: processors that fetch lines in pairs ({} bytes) would also share falsely {}{}",
                         2 * report.line_bytes, fmt::join(names, ", "), more(report.in_pairs)));
  return out;
}

ordered_json elsewhere_json(const std::vector<ElsewhereShared>& all, const trace::Symbols& symbols, bool by_shift) {
  ordered_json out = ordered_json::array();
  for (const ElsewhereShared& it : all) {
    ordered_json one = {{"line", place_of(it.line.pieces.front(), symbols)}, {"accesses", it.line.disturbed}};
    if (by_shift) one["heap_shifts"] = it.shifts;
    out.push_back(std::move(one));
  }
  return out;
}

// The shares of time that are lost to true sharing, which no layout can improve. The costliest first.
std::vector<const TimeShare*> true_shares(const SharingReport& report) {
  constexpr double kWorthNaming = 1;  // in percent of the threads' time; smaller shares are left out
  std::vector<const TimeShare*> found;
  if (!report.time) return found;
  for (const TimeShare& share : report.time->shares) {
    if (share.what == TimeClass::true_sharing && report.time->pct(share.ticks) >= kWorthNaming) found.push_back(&share);
  }
  return found;
}

std::string true_shares_text(const SharingReport& report, const Painter& paint) {
  constexpr std::size_t kMost = 3;
  const std::vector<const TimeShare*> shares = true_shares(report);
  if (shares.empty()) return {};
  std::string out =
      "\n" + paragraph("No layout helps against what threads share truly (advise tries what may):", 2, Colour::none, paint);
  for (std::size_t i = 0; i < std::min(kMost, shares.size()); ++i) {
    const std::string pct = fmt::format("{:5.1f} %", report.time->pct(shares[i]->ticks));
    out += "  " + pct + " " + wrapped_from(sentence(*shares[i]), 11, Colour::none, paint);
  }
  if (shares.size() > kMost) out += fmt::format("  and {} more\n", shares.size() - kMost);
  return out;
}

ordered_json true_shares_json(const SharingReport& report) {
  ordered_json out = ordered_json::array();
  for (const TimeShare* share : true_shares(report))
    out.push_back({{"name", share->name},
                   {"role", share->role},
                   {"source", share->source},
                   {"writers", share->writers},
                   {"pct", rounded(report.time->pct(share->ticks))},
                   {"text", sentence(*share)}});
  return out;
}

std::string cheap_text(const SharingReport& report) {
  return fmt::format(
      "Not run: {}, for all misses on their lines take {:.2g} % of the run's time, and nothing can gain more than that",
      plural(report.cheap, "proposal"), report.cheap_pct);
}

// The proposals that gain, in full, and one sentence that names the others.
std::string proposals_text(const SharingReport& report, const Painter& paint) {
  std::string gains, others;
  std::size_t number = 0;
  for (const TriedProposal& tried : report.tried) {
    const bool confirmed = report.again && report.again->name == tried.proposal.name && report.again->change.is_gain();
    if (tried.change.is_gain() || confirmed) {
      gains += proposal_text(++number, tried, report, paint);
    } else {
      others += fmt::format("{}{}, {}", others.empty() ? "" : "; ", tried.proposal.name, text_of(tried.change));
    }
  }
  if (number > 1 && report.all) gains += fmt::format("\n  All together: {}\n", throughput_text(*report.all));
  std::string out;
  if (!gains.empty()) {
    const std::string head = fmt::format("Proposals, each on its own in {} orders of the same operations", report.orders);
    out += "\n  " + paint(Colour::bold, head) + "\n" + gains;
  }
  if (!others.empty())
    out += "\n  " + wrapped_from("Tried, and no gain by more than chance: " + others, 2, Colour::none, paint);
  if (report.cheap > 0) out += "\n  " + wrapped_from(cheap_text(report), 2, Colour::none, paint);
  if (report.untried > 0) out += fmt::format("  and {} more that were not run, as --top N runs them\n", report.untried);
  return out;
}

const TriedProposal& tried_as(const SharingReport& report, const std::string& name) {
  return *std::ranges::find_if(report.tried, [&](const auto& it) { return it.proposal.name == name; });
}

// The verdict if no line is falsely shared. If the recording is incomplete, it only covers what was recorded.
std::string nothing_found(const SharingReport& report) {
  if (report.limits.may_add()) return "No verdict: no line of what was recorded is shared falsely, or it costs nothing.";
  return report.missing.empty() ? "No line is shared falsely, or it costs nothing."
                                : "No line of what was recorded is shared falsely, or it costs nothing.";
}

// A sentence on the costliest line that no proposal changes; empty if such lines cost too little.
std::string uncured_text(const SharingReport& report) {
  if (!report.uncured) return "";
  const auto& [line, pct] = *report.uncured;
  return fmt::format(" No proposal changes {}, whose {} misses take {:.2g} % of the run's time.",
                     line == 0 ? "the costliest line" : fmt::format("the costliest line but {}", line),
                     report.lines[line].misses, pct);
}

}  // namespace

std::string best_choice(const SharingReport& report) {
  const auto best = std::ranges::max_element(report.tried, {}, [](const auto& tried) { return tried.change.promise_pct(); });
  const double one = best == report.tried.end() ? 0 : best->change.promise_pct();
  const double all = report.all ? report.all->promise_pct() : 0;
  if (all > 0 && (one == 0 || all > one + kWorthIt)) return kAllProposals;
  return one > 0 ? best->proposal.name : "";
}

const OrdersChange& change_of(const SharingReport& report, const std::string& choice) {
  return choice == kAllProposals ? *report.all : tried_as(report, choice).change;
}

namespace {

std::string advice_of_runs(const SharingReport& report) {
  if (report.lines.empty()) return nothing_found(report);
  const std::string leave = report.limits.may_add() ? "No verdict; in what was recorded, " : "Leave the layouts as they are: ";
  if (report.tried.empty() && report.cheap > 0)
    return fmt::format("{}all misses on the costliest lines that could be changed take {:.2g} % of the run's time.{}", leave,
                       report.cheap_pct, uncured_text(report));
  if (report.tried.empty()) return "Lines are shared falsely, but no change of a layout could be found and compared.";
  if (!report.again) {
    if (!best_choice(report).empty()) return leave + "what gained has not finished in other orders.";
    return fmt::format("{}no proposal gains as much as {} % by more than chance.{}", leave, kWorthIt, uncured_text(report));
  }
  const auto& [name, change] = *report.again;
  const bool all = name == kAllProposals;
  if (!change.is_gain())
    return fmt::format("{}no proposal gains by more than chance: {} {} in {} orders, and {} in others.{}", leave,
                       all ? "all together" : name, gains_text(change_of(report, name)), report.orders, text_of(change),
                       uncured_text(report));
  const std::string what = !all                   ? tried_as(report, name).proposal.sentence
                           : report.tried.empty() ? "all proposals together"
                                                  : fmt::format("all {} proposals, first {}", report.tried.size(),
                                                                report.tried.front().proposal.sentence);
  const std::string where =
      report.heap_shift == 0 ? "" : fmt::format(", if the heap lies {} bytes further on", report.heap_shift);
  const std::string uncured = uncured_text(report);
  return fmt::format("{}: {} on {}{}{}", what, throughput_text(change), report.machine, where,
                     uncured.empty() ? "" : "." + uncured);
}

}  // namespace

std::string advice(const SharingReport& report) {
  if (const std::string why = why_no_verdict(report.tries_otherwise_pct); !why.empty()) return "No verdict: " + why + ".";
  if (report.limits.may_reverse()) return "No verdict. No change of a layout was tried.";
  const bool gains = report.again && report.again->change.is_gain();  // a gain's text already states this share
  const std::string tries = gains ? "" : tries_text(report.tries_otherwise_pct, " ");
  return advice_of_runs(report) + (tries.empty() ? "" : tries + ".");
}

namespace {

// Whether the text has a gain or a share of the time, which rests on how long the program computes.
bool states_sizes(const SharingReport& report) {
  return !report.tried.empty() || report.cheap > 0 || report.uncured || !true_shares(report).empty();
}

}  // namespace

std::string sharing_text(const SharingReport& report, const trace::Symbols& symbols, std::size_t top, const Painter& paint) {
  std::string out = limits_text(report.limits, 2, paint) + "  " +
                    titled(report.trace,
                           fmt::format("on {}, {} of {} bytes: {} that threads share falsely", report.machine,
                                       report.pairs ? "pairs of lines" : "lines", report.line_bytes, report.lines.size()),
                           paint, 2);
  if (report.heap_shift > 0)
    out += fmt::format("  with the heap {} bytes behind where it lay in the recorded run\n", report.heap_shift);
  out += "\n" + (states_sizes(report) ? basis_text(report.basis, 2, paint) : "") +
         paragraph(advice(report), 2, Colour::bold, paint);
  if (!report.lines.empty()) out += "\n";
  for (std::size_t i = 0; i < std::min(top, report.lines.size()); ++i) out += line_text(report.lines[i], symbols, paint);
  if (report.lines.size() > top) {
    const std::string all = (report.directory.parent_path() / kSharingFile).string();
    const std::string misses = (report.directory / "recorded" / "lines.csv").string();
    const std::string rest = fmt::format("and {} more, as --top N prints them; all are in {}, all misses in {}",
                                         report.lines.size() - top, all, misses);
    out += paragraph(rest, 2, Colour::none, paint);
  }
  out += proposals_text(report, paint);
  out += true_shares_text(report, paint);
  out += slots_text(report, paint);
  out += elsewhere_text(report, symbols, paint);
  const std::string rests_on =
      not_seen_text(trace::missing_beside_limits(report.missing), paint) + assumptions_text(report.assumptions, paint);
  return out + (rests_on.empty() ? "" : "\n") + rests_on;
}

ordered_json sharing_json(const SharingReport& report, const trace::Symbols& symbols) {
  ordered_json lines = ordered_json::array();
  for (const CostlyLine& line : report.lines) {
    ordered_json pieces = ordered_json::array();
    for (const Piece& piece : line.line.pieces) pieces.push_back(piece_json(piece, symbols));
    lines.push_back({{"line", line_name(line, symbols)},
                     {"misses", line.misses},
                     {"latency_us", rounded(line.latency_us)},
                     {"in_turn", line.line.in_turn},
                     {"pieces", std::move(pieces)}});
  }
  ordered_json proposals = ordered_json::array();
  for (const TriedProposal& tried : report.tried) proposals.push_back(proposal_json(tried));
  ordered_json confirmation = nullptr;
  if (report.again)
    confirmation = {{"proposal", report.again->name},
                    {"orders", report.again->change.orders},
                    {"throughput_change_pct", rounded(report.again->change.median_pct)},
                    {"throughput_change_low_pct", rounded(report.again->change.low_pct)},
                    {"throughput_change_high_pct", rounded(report.again->change.high_pct)}};
  return {{"schema", "linebounce.find_sharing/1"},
          {"trace", report.trace},
          {"machine", report.machine},
          {"directory", report.directory.string()},
          {"line_bytes", report.line_bytes},
          {"throughput_per_s", rounded(report.throughput_per_s)},
          {"tries_otherwise_pct", rounded(report.tries_otherwise_pct)},
          {"falsely_shared_lines", report.lines.size()},
          {"lines", std::move(lines)},
          {"true_sharing", true_shares_json(report)},
          {"heap_shift", report.heap_shift},
          {"elsewhere", elsewhere_json(report.elsewhere, symbols, true)},
          {"in_pairs_of_lines", elsewhere_json(report.in_pairs, symbols, false)},
          {"proposals", std::move(proposals)},
          {"pairs", report.pairs},
          {"untried_proposals", report.untried},
          {"cheap_proposals", report.cheap},
          {"cheap_proposals_pct", rounded(report.cheap_pct)},
          {"missing", report.missing},
          {"orders", report.orders},
          {"all_throughput_change_pct", report.all ? ordered_json(rounded(report.all->median_pct)) : ordered_json(nullptr)},
          {"confirmation", std::move(confirmation)},
          {"advice", behind_limits(report.limits, advice(report))},
          {"basis", report.basis},
          {"limits", limits_json(report.limits)},
          {"assumptions", report.assumptions}};
}

}  // namespace linebounce::sim
