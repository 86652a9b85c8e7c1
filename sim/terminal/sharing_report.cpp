#include "sim/terminal/sharing_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/results/numbers.hpp"
#include "sim/studies/replay/replay_study.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {

namespace {

using nlohmann::ordered_json;

// "counts[3]", where the array is the object itself and its elements are the fields.
std::string place_of(const Piece& piece, const trace::Symbols& symbols) {
  std::string name = symbols.place_name(piece.object, piece.offset);
  if (const std::size_t element = name.find(".["); element != std::string::npos) name.erase(element, 1);
  return name;
}

std::string users_of(const Piece& piece, const trace::Symbols& symbols) {
  // A single write is not what `written` means; but who never reads has not read.
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
                  paint(Colour::dim, fmt::format("{} misses, {} us of latency", line.misses, readable(line.latency_us))));
  const auto& pieces = line.line.pieces;
  Table table({names("", 38), words("", 30, 2), words("")}, paint, 4);
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

std::string proposal_text(std::size_t number, const TriedProposal& tried, const Painter& paint) {
  const Colour colour = tried.throughput_pct >= kWorthIt ? Colour::green : Colour::none;
  std::string out = fmt::format("{:>4}  {}  {}\n", number, paint(Colour::bold, tried.proposal.name),
                                paint(colour, fmt::format("{:+.1f} % throughput, transfers of lines {:.0f} → {:.0f}",
                                                          tried.throughput_pct, tried.misses_before, tried.misses_after)));
  out += "      " + wrapped_from(tried.proposal.sentence, 6, Colour::none, paint);
  out += indented(tried.proposal.drawing, "        ");
  return out + paint(Colour::dim, indented(tried.proposal.change, "      "));
}

ordered_json piece_json(const Piece& piece, const trace::Symbols& symbols) {
  constexpr std::array kUsers = {"one", "readers", "writers"};
  return {{"place", place_of(piece, symbols)},
          {"bytes", piece.bytes},
          {"users", kUsers.at(static_cast<std::size_t>(piece.users))},
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
          {"throughput_change_pct", rounded(tried.throughput_pct)},
          {"transfers_before", rounded(tried.misses_before)},
          {"transfers_after", rounded(tried.misses_after)}};
}

}  // namespace

std::string sharing_text(const SharingReport& report, const trace::Symbols& symbols, std::size_t top, const Painter& paint) {
  std::string out = fmt::format("  {}  on {}, lines of {} bytes: {} that threads share falsely\n",
                                paint(Colour::bold, report.trace), report.machine, report.line_bytes, report.lines.size());
  if (!report.lines.empty()) out += "\n";
  for (std::size_t i = 0; i < std::min(top, report.lines.size()); ++i) out += line_text(report.lines[i], symbols, paint);
  if (report.lines.size() > top) {
    const std::string all = (report.directory.parent_path() / kSharingFile).string();
    const std::string misses = (report.directory / "recorded" / "lines.csv").string();
    out += fmt::format("  and {} more, as --top N prints them; all are in {}, all misses in {}\n", report.lines.size() - top,
                       all, misses);
  }
  if (!report.tried.empty()) out += "\n  " + paint(Colour::bold, "Proposals, each run on its own") + "\n";
  for (std::size_t i = 0; i < report.tried.size(); ++i) out += proposal_text(i + 1, report.tried[i], paint);
  if (report.untried > 0) out += fmt::format("  and {} more that were not run, as --top N runs them\n", report.untried);
  if (report.tried.size() > 1 && report.all_throughput_pct)
    out += fmt::format("\n  All together: {:+.1f} % throughput\n", *report.all_throughput_pct);
  for (std::size_t i = 0; i < report.missing.size(); ++i)
    out += (i == 0 ? "\n  not seen  " : "            ") + wrapped_from(report.missing[i], 12, Colour::none, paint);
  return out;
}

ordered_json sharing_json(const SharingReport& report, const trace::Symbols& symbols) {
  ordered_json lines = ordered_json::array();
  for (const CostlyLine& line : report.lines) {
    ordered_json pieces = ordered_json::array();
    for (const Piece& piece : line.line.pieces) pieces.push_back(piece_json(piece, symbols));
    lines.push_back({{"line", line_name(line, symbols)},
                     {"misses", line.misses},
                     {"latency_us", rounded(line.latency_us)},
                     {"pieces", std::move(pieces)}});
  }
  ordered_json proposals = ordered_json::array();
  for (const TriedProposal& tried : report.tried) proposals.push_back(proposal_json(tried));
  return {{"schema", "linebounce.find_sharing/1"},
          {"trace", report.trace},
          {"machine", report.machine},
          {"directory", report.directory.string()},
          {"line_bytes", report.line_bytes},
          {"throughput_per_s", rounded(report.throughput_per_s)},
          {"falsely_shared_lines", report.lines.size()},
          {"lines", std::move(lines)},
          {"proposals", std::move(proposals)},
          {"untried_proposals", report.untried},
          {"missing", report.missing},
          {"all_throughput_change_pct",
           report.all_throughput_pct ? ordered_json(rounded(*report.all_throughput_pct)) : ordered_json(nullptr)}};
}

}  // namespace linebounce::sim
