#include "sim/studies/advice/element_size.hpp"

#include <algorithm>
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
  std::int64_t second = place.begin + place.size;
  for (const trace::Field& field : structure.fields) {
    if (field.name.starts_with(group + "[1]")) second = std::min(second, field.offset);
  }
  const std::int64_t element = second - place.begin;
  if (element > 0) place.size = (place.size + element - 1) / element * element;
  return place;
}

bool is_in(const Piece& piece, const ArrayPlace& array) {
  return piece.offset >= array.begin && piece.offset + piece.bytes <= array.begin + array.size;
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
  std::int64_t element = array.size;
  const Piece* first_of_run = nullptr;  // of pieces of the same users, one behind the other
  for (const Piece& piece : pieces) {
    if (!is_in(piece, array)) continue;
    if (first_of_run != nullptr && conflict(*first_of_run, piece)) {
      element = std::gcd(element, piece.offset - first_of_run->offset);
      first_of_run = &piece;
    }
    if (first_of_run == nullptr) first_of_run = &piece;
  }
  const bool cuts = std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
    const std::int64_t begin = piece.offset - array.begin;
    return is_in(piece, array) && begin / element != (begin + piece.bytes - 1) / element;
  });
  if (cuts || element == array.size) return std::nullopt;
  return element;
}

}  // namespace linebounce::sim
