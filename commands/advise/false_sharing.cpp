#include "commands/advise/false_sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "commands/advise/proposals.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {
namespace {

// Shares of all accesses to a piece.
constexpr double kOneThread = 0.9;     // a thread with at least this share counts as the only user
constexpr double kHardlyEver = 0.002;  // writes up to this share are ignored
constexpr double kSome = 0.1;          // a thread with at least this share counts as a user

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
  for (const ThreadUse& thread : use.threads) {
    if (static_cast<double>(thread.reads + thread.writes) >= kSome * all) piece.threads.push_back(thread.thread);
  }
  std::ranges::sort(piece.threads);
  if (static_cast<double>(most) < kOneThread * all) piece.users = piece.written ? Users::writers : Users::readers;
  return piece;
}

constexpr std::int64_t kBlockAlignment = 16;  // malloc's

// Returns the layouts of the line's conflicting pieces.
std::set<std::string> layouts_in_conflict(const FalselySharedLine& line, const trace::Symbols& symbols) {
  std::set<std::string> names;
  for (const Piece& piece : line.pieces) {
    const bool disturbed = std::ranges::any_of(line.pieces, [&piece](const Piece& other) { return conflict(piece, other); });
    if (disturbed) names.insert(layout_name(symbols, piece.object));
  }
  return names;
}

ArrayPlace group_place(const trace::Structure& structure, const std::string& group) {
  ArrayPlace place{group};
  std::int64_t end = 0;
  bool found = false;
  for (const trace::Field& field : structure.fields) {
    if (group_of(field.name) != group) continue;
    place.begin = found ? std::min(place.begin, field.offset) : field.offset;
    end = std::max(end, field.offset + field.size);
    found = true;
  }
  place.size = end - place.begin;
  return place;
}

// Returns an array whose field names tell where its elements begin. It includes the padding at the end of its last element.
ArrayPlace numbered_place(const trace::Structure& structure, const std::string& group) {
  ArrayPlace place = group_place(structure, group);
  place.numbered = true;
  std::int64_t second = place.begin + place.size;
  for (const trace::Field& field : structure.fields) {
    if (field.name.starts_with(group + "[1]")) second = std::min(second, field.offset);
  }
  const std::int64_t element = second - place.begin;
  if (element > 0) place.size = (place.size + element - 1) / element * element;
  return place;
}

std::vector<Piece> pieces_in(const ArrayPlace& array, const std::vector<Piece>& pieces) {
  std::vector<Piece> inside;
  std::ranges::copy_if(pieces, std::back_inserter(inside), [&array](const Piece& piece) {
    return piece.offset >= array.begin && piece.offset + piece.bytes <= array.begin + array.size;
  });
  return inside;
}

// Element sizes in bytes, derived from runs; 0: unknown. A run is a sequence of adjacent pieces with the same users. The
// first run on a line may begin on the previous line, which is missing if only one thread uses it. So the first runs count
// only for `all`.
struct Runs {
  std::int64_t apart = 0;  // greatest common divisor of the distances between runs, without the first on each line
  std::int64_t first = 0;  // offset in the array of the first run that begins inside a line
  std::int64_t all = 0;    // like `apart`, but with the first run on each line
};

Runs runs_of(const ArrayPlace& array, const std::vector<Piece>& pieces) {
  Runs runs;
  std::int64_t last = 0;  // offset of the latest run that begins inside a line
  const Piece* first_of_run = nullptr;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (first_of_run != nullptr && !conflict(*first_of_run, piece)) continue;
    if (first_of_run != nullptr) runs.all = std::gcd(runs.all, piece.offset - first_of_run->offset);
    first_of_run = &piece;
    if (i == 0 || pieces[i - 1].line != piece.line) continue;
    if (runs.first == 0) {
      runs.first = piece.offset - array.begin;
    } else {
      runs.apart = std::gcd(runs.apart, piece.offset - last);
    }
    last = piece.offset;
  }
  return runs;
}

bool holds_whole_pieces(const ArrayPlace& array, std::int64_t bytes, const std::vector<Piece>& pieces) {
  return std::ranges::none_of(pieces, [&](const Piece& piece) {
    const std::int64_t begin = piece.offset - array.begin;
    return begin / bytes != (begin + piece.bytes - 1) / bytes;
  });
}

// True if elements of this size keep threads apart: no element has pieces of different users.
bool separates(const ArrayPlace& array, std::int64_t bytes, const std::vector<Piece>& pieces) {
  const Piece* first = nullptr;  // in the current element
  for (const Piece& piece : pieces) {
    const auto element_of = [&](const Piece& it) { return (it.offset - array.begin) / bytes; };
    if (first == nullptr || element_of(*first) != element_of(piece) || first->reads + first->writes <= 1) {
      first = &piece;
    } else if (conflict(*first, piece)) {
      return false;
    }
  }
  return true;
}

bool is_alone(const std::vector<Piece>& pieces) {
  return std::ranges::all_of(pieces, [&pieces](const Piece& it) { return it.object == pieces.front().object; });
}

// Returns a piece's slot: the array element ("[3]" of "[3].sequence") or else the object that contains it. If the line has
// only one object, each member is a slot, such as the heads of two lists. `alone`: the line has only one object.
std::string slot_of(const Piece& piece, const trace::Symbols& symbols, bool alone) {
  const trace::Object& object = symbols.objects.at(piece.object);
  const std::size_t element = piece.field.find(']');
  std::string slot = std::to_string(piece.object);
  if (element != std::string::npos) return slot + " " + piece.field.substr(0, element + 1);
  const trace::Field* field = symbols.field_at(object, piece.offset);
  const bool scalar_element = field == nullptr || field->size >= 2 * piece.bytes;
  if (alone && !scalar_element) return slot + " " + group_of(piece.field);
  return scalar_element ? fmt::format("{} +{}", slot, piece.offset) : slot;
}

std::int64_t disturbed_accesses(const std::vector<Piece>& pieces) {
  std::int64_t disturbed = 0;
  for (const Piece& piece : pieces) {
    const bool is_disturbed = std::ranges::any_of(pieces, [&piece](const Piece& other) { return conflict(piece, other); });
    if (is_disturbed) disturbed += piece.reads + piece.writes;
  }
  return disturbed;
}

// True if the line has more than a few misses due to other bytes. A few are normal, when threads begin and end.
bool is_shared_in_time(std::uint64_t line, const std::vector<FalseLine>& in_time) {
  constexpr std::int64_t kFewest = 20;
  const auto known = std::ranges::lower_bound(in_time, line, {}, &FalseLine::line);
  return known != in_time.end() && known->line == line && known->misses >= kFewest;
}

// True if no thread uses both pieces, as with the locks of two threads.
bool are_strangers(const Piece& a, const Piece& b) {
  const auto uses_b = [&b](std::uint32_t thread) { return std::ranges::binary_search(b.threads, thread); };
  return !a.threads.empty() && !b.threads.empty() && std::ranges::none_of(a.threads, uses_b);
}

}  // namespace

bool conflict(const Piece& a, const Piece& b) {
  if (a.reads + a.writes <= 1 || b.reads + b.writes <= 1) return false;
  if (!a.slot.empty() && !b.slot.empty()) return a.slot != b.slot && (a.written || b.written);
  if (!a.written && !b.written) return false;
  if (a.users == Users::one && b.users == Users::one) return a.thread != b.thread;
  return a.users != b.users || are_strangers(a, b);
}

std::vector<FalselySharedLine> falsely_shared(const std::vector<LineUsers>& lines, const trace::Symbols& symbols,
                                              const std::vector<FalseLine>& in_time) {
  std::vector<FalselySharedLine> found;
  for (const LineUsers& users : lines) {
    FalselySharedLine line{.line = users.line};
    for (const PieceUse& use : users.pieces) line.pieces.push_back(piece_of(use, symbols));
    for (Piece& piece : line.pieces) piece.line = users.line;
    line.disturbed = disturbed_accesses(line.pieces);
    if (line.disturbed == 0 && is_shared_in_time(users.line, in_time)) {
      for (Piece& piece : line.pieces) piece.slot = slot_of(piece, symbols, is_alone(line.pieces));
      line.disturbed = disturbed_accesses(line.pieces);
      line.in_turn = true;
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

using namespace workloads;

std::optional<ArrayPlace> array_of(const Piece& piece, const trace::Symbols& symbols) {
  const trace::Object& object = symbols.objects.at(piece.object);
  if (object.structure == trace::kNone) return ArrayPlace{"", 0, object.size};
  if (piece.field.empty()) return std::nullopt;
  const trace::Structure& structure = symbols.structures.at(object.structure);
  const std::string group = group_of(piece.field);
  const ArrayPlace place = group_place(structure, group);
  // An object may be an array itself. The group of its field "[3].hits" is "".
  if (piece.field.find('[') != std::string::npos) return numbered_place(structure, group);
  return group == piece.field && place.size >= 2 * piece.bytes ? std::optional(place) : std::nullopt;
}

std::optional<std::int64_t> element_bytes(const ArrayPlace& array, const std::vector<Piece>& pieces) {
  const std::vector<Piece> inside = pieces_in(array, pieces);
  const Runs runs = runs_of(array, inside);
  // A run that is alone inside a line begins an element, but it is not known which one.
  const std::int64_t from_begin = runs.apart == 0 ? 0 : std::gcd(runs.apart, runs.first);
  const auto divides = [&array](std::int64_t bytes) { return array.numbered || array.size % bytes == 0; };
  for (const std::int64_t bytes : {runs.apart, from_begin, runs.all}) {
    if (bytes > 0 && bytes < array.size && divides(bytes) && holds_whole_pieces(array, bytes, inside) &&
        (bytes == runs.all || separates(array, bytes, inside)))
      return bytes;
  }
  return std::nullopt;
}

}  // namespace linebounce::sim
