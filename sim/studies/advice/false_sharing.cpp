#include "sim/studies/advice/false_sharing.hpp"

#include <algorithm>
#include <set>

#include "sim/studies/advice/proposals.hpp"

namespace linebounce::sim {
namespace {

// Shares below which a thread, or its writes, count for nothing.
constexpr double kOneThread = 0.9;     // of all accesses
constexpr double kHardlyEver = 0.002;  // writes, of all accesses

Piece piece_of(const PieceUse& use, const trace::Symbols& symbols) {
  Piece piece{use.object, use.offset, use.bytes};
  if (const trace::Field* field = symbols.field_at(symbols.objects.at(use.object), use.offset)) piece.field = field->name;
  std::int64_t most = 0;
  for (const ThreadUse& thread : use.threads) {
    piece.reads += thread.reads;
    piece.writes += thread.writes;
    if (thread.reads + thread.writes <= most) continue;
    most = thread.reads + thread.writes;
    piece.thread = thread.thread;
  }
  const auto all = static_cast<double>(piece.reads + piece.writes);
  piece.written = piece.writes > 1 && static_cast<double>(piece.writes) > kHardlyEver * all;
  if (static_cast<double>(most) < kOneThread * all) piece.users = piece.written ? Users::writers : Users::readers;
  return piece;
}

constexpr std::int64_t kBlockAlignment = 16;  // of malloc

// Layouts that have pieces in conflict on the line.
std::set<std::string> layouts_in_conflict(const FalselySharedLine& line, const trace::Symbols& symbols) {
  std::set<std::string> names;
  for (const Piece& piece : line.pieces) {
    const bool disturbed = std::ranges::any_of(line.pieces, [&piece](const Piece& other) { return conflict(piece, other); });
    if (disturbed) names.insert(layout_name(symbols, piece.object));
  }
  return names;
}

}  // namespace

bool conflict(const Piece& a, const Piece& b) {
  if (a.reads + a.writes <= 1 || b.reads + b.writes <= 1) return false;
  const bool same_users = a.users == b.users && (a.users != Users::one || a.thread == b.thread);
  return !same_users && (a.written || b.written);
}

std::vector<FalselySharedLine> falsely_shared(const std::vector<LineUsers>& lines, const trace::Symbols& symbols) {
  std::vector<FalselySharedLine> found;
  for (const LineUsers& users : lines) {
    FalselySharedLine line{users.line, {}, 0};
    for (const PieceUse& use : users.pieces) line.pieces.push_back(piece_of(use, symbols));
    for (Piece& piece : line.pieces) piece.line = users.line;
    for (const Piece& piece : line.pieces) {
      const bool disturbed = std::ranges::any_of(line.pieces, [&piece](const Piece& other) { return conflict(piece, other); });
      if (disturbed) line.disturbed += piece.reads + piece.writes;
    }
    if (line.disturbed > 0) found.push_back(std::move(line));
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.disturbed > b.disturbed; });
  return found;
}

std::vector<std::int64_t> heap_shifts(int line_bytes) {
  std::vector<std::int64_t> shifts;
  for (std::int64_t shift = 0; shift < line_bytes; shift += kBlockAlignment) shifts.push_back(shift);
  return shifts;
}

void add_elsewhere(std::vector<ElsewhereShared>& all, const std::vector<FalselySharedLine>& before,
                   const std::vector<FalselySharedLine>& shared, std::int64_t shift, const trace::Symbols& symbols) {
  std::set<std::string> known;
  for (const FalselySharedLine& line : before) known.merge(layouts_in_conflict(line, symbols));
  for (const FalselySharedLine& line : shared) {
    for (const std::string& layout : layouts_in_conflict(line, symbols)) {
      if (known.contains(layout)) continue;
      auto found = std::ranges::find_if(all, [&](const ElsewhereShared& it) { return it.layout == layout; });
      if (found == all.end()) found = all.insert(all.end(), ElsewhereShared{layout, line, {}});
      if (line.disturbed > found->line.disturbed) found->line = line;
      if (found->shifts.empty() || found->shifts.back() != shift) found->shifts.push_back(shift);
    }
  }
}

}  // namespace linebounce::sim
