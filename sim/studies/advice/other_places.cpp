#include "sim/studies/advice/other_places.hpp"

#include <algorithm>
#include <set>

#include "sim/studies/advice/proposals.hpp"

namespace linebounce::sim {

namespace {

constexpr std::int64_t kBlockAlignment = 16;  // of malloc

// Layouts that have pieces in conflict on the line.
std::set<std::string> layouts_in_conflict(const FalselySharedLine& line, const trace::Symbols& symbols) {
  std::set<std::string> names;
  for (const Piece& piece : line.pieces) {
    const bool disturbed =
        std::any_of(line.pieces.begin(), line.pieces.end(), [&piece](const Piece& other) { return conflict(piece, other); });
    if (disturbed) names.insert(layout_name(symbols, piece.object));
  }
  return names;
}

}  // namespace

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
      auto found = std::find_if(all.begin(), all.end(), [&](const ElsewhereShared& it) { return it.layout == layout; });
      if (found == all.end()) found = all.insert(all.end(), ElsewhereShared{layout, line, {}});
      if (line.disturbed > found->line.disturbed) found->line = line;
      if (found->shifts.empty() || found->shifts.back() != shift) found->shifts.push_back(shift);
    }
  }
}

}  // namespace linebounce::sim
