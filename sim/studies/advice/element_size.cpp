#include "sim/studies/advice/element_size.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

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

// With the padding at the end of its last element, if the names of its fields say where elements begin.
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

// What the beginnings of runs say, pieces of the same users one behind the other. Of a line that one thread has to itself there
// are no pieces: a run that is first on its line may have begun before it, and says nothing. Sizes; 0: not known.
struct Runs {
  std::int64_t apart = 0;  // what all distances between runs are multiples of
  std::int64_t first = 0;  // from the array's beginning to the first run
  std::int64_t all = 0;    // as `apart`, also of runs that are first on their lines
};

Runs runs_of(const ArrayPlace& array, const std::vector<Piece>& pieces) {
  Runs runs;
  std::int64_t last = 0;  // where a run within a line has begun, if any has
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

// Nobody finds another's pieces in his own element.
bool separates(const ArrayPlace& array, std::int64_t bytes, const std::vector<Piece>& pieces) {
  const Piece* first = nullptr;  // of an element
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

}  // namespace

std::optional<ArrayPlace> array_of(const Piece& piece, const trace::Symbols& symbols) {
  const trace::Object& object = symbols.objects.at(piece.object);
  if (object.structure == trace::kNone) return ArrayPlace{"", 0, object.size};
  if (piece.field.empty()) return std::nullopt;
  const trace::Structure& structure = symbols.structures.at(object.structure);
  const std::string group = group_of(piece.field);
  const ArrayPlace place = group_place(structure, group);
  // "[3].hits" of an object that is an array: its group is "".
  if (piece.field.find('[') != std::string::npos) return numbered_place(structure, group);
  return group == piece.field && place.size >= 2 * piece.bytes ? std::optional(place) : std::nullopt;
}

std::optional<std::int64_t> element_bytes(const ArrayPlace& array, const std::vector<Piece>& pieces) {
  const std::vector<Piece> inside = pieces_in(array, pieces);
  const Runs runs = runs_of(array, inside);
  // A single run within a line, far into the array, may be any of its elements.
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
