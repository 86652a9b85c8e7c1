// How large the elements of an array are that threads use as their own, from who uses which bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/studies/advice/false_sharing.hpp"

namespace linebounce::sim {

// An object without fields, a field that is used in pieces, or fields whose names are numbered.
struct ArrayPlace {
  std::string name;  // of its field; empty: all of the object
  std::int64_t begin = 0, size = 0;
  bool numbered = false;  // its fields say where elements begin, the last of which may be cut short
  friend bool operator==(const ArrayPlace&, const ArrayPlace&) = default;
};

// The array that a piece is in, if it is in one.
std::optional<ArrayPlace> array_of(const Piece& piece, const trace::Symbols& symbols);

// The largest element with which nobody finds another's pieces in his own: none if there is no such size below the array's.
// `pieces` are the object's, by offset.
std::optional<std::int64_t> element_bytes(const ArrayPlace& array, const std::vector<Piece>& pieces);

}  // namespace linebounce::sim
