#include "sim/studies/advice/false_sharing.hpp"

#include <algorithm>

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
      const bool disturbed =
          std::any_of(line.pieces.begin(), line.pieces.end(), [&piece](const Piece& other) { return conflict(piece, other); });
      if (disturbed) line.disturbed += piece.reads + piece.writes;
    }
    if (line.disturbed > 0) found.push_back(std::move(line));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.disturbed > b.disturbed; });
  return found;
}

}  // namespace linebounce::sim
