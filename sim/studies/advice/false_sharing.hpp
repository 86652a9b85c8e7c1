// Lines on which threads get into each other's way although they use different bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/studies/advice/byte_use.hpp"
#include "sim/studies/advice/time_account.hpp"
#include "trace/symbols.hpp"

namespace linebounce::sim {

// How threads use some bytes. What a thread does with less than a tenth of all accesses counts for nothing: somebody has set
// the bytes up, and somebody adds them up at the end.
enum class Users : std::uint8_t {
  one,      // a thread of its own
  readers,  // several, who hardly ever write
  writers   // several, and they write: they share it truly
};

struct Piece {
  std::uint32_t object = 0;
  std::int64_t offset = 0, bytes = 0;
  std::string field = {};  // empty: no field has these bytes
  Users users = Users::one;
  std::uint32_t thread = 0;                 // whose it is, if it is one's
  std::vector<std::uint32_t> threads = {};  // with a tenth of its accesses or more, in order
  std::int64_t reads = 0, writes = 0;
  bool written = false;  // more than once in a while
  std::uint64_t line = 0;
  // Of a line whose slots, or members, threads use in turn: which it is in. Each slot is several threads' over the whole run,
  // but not when another one is used. Empty: not judged in time.
  std::string slot = {};
};

// Whether moving the two apart would help somebody: others use them, and one of them is written. What is touched a single time,
// as padding by who clears all of it, disturbs nobody.
bool conflict(const Piece& a, const Piece& b);

struct FalselySharedLine {
  std::uint64_t line = 0;
  std::vector<Piece> pieces = {};  // all that are used, by object and offset
  std::int64_t disturbed = 0;      // accesses to pieces that conflict with another: an upper bound of the misses
  bool in_turn = false;            // only in time, as a replay has shown: see Piece::slot
};

// Those of the lines that hold pieces in conflict, the one with most accesses to them first. `in_time`: lines on which a replay
// missed because of other bytes, by address; what has no conflict over the whole run may have one between slots.
std::vector<FalselySharedLine> falsely_shared(const std::vector<LineUsers>& lines, const trace::Symbols& symbols,
                                              const std::vector<FalseLine>& in_time = {});

// Lines that threads would share falsely if objects lay elsewhere: a block from malloc may begin at any multiple of 16
// bytes, and many processors fetch lines in pairs.

// An allocator's places for a block within a line of so many bytes: 0, 16, 32, ...
std::vector<std::int64_t> heap_shifts(int line_bytes);

// Of a layout whose objects are in conflict there, and not where they lay.
struct ElsewhereShared {
  std::string layout;
  FalselySharedLine line;            // that with most accesses in conflict
  std::vector<std::int64_t> shifts;  // of the heap, in bytes, at which it is shared
};

// Adds what `shared` has and `before` has not; `shift`: how the objects lie in `shared`.
void add_elsewhere(std::vector<ElsewhereShared>& all, const std::vector<FalselySharedLine>& before,
                   const std::vector<FalselySharedLine>& shared, std::int64_t shift, const trace::Symbols& symbols);

// ---- how large the elements of an array are that threads use as their own, from who uses which bytes ----

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
