// Finds lines on which threads disturb each other, although each uses other bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/advise/byte_use.hpp"
#include "commands/advise/time_account.hpp"
#include "trace/symbols.hpp"

namespace linebounce::sim {

// How threads use some bytes. A thread with less than a tenth of the accesses is ignored; it may only initialise the bytes,
// or add them up at the end.
enum class Users : std::uint8_t {
  one,      // only one thread uses the bytes
  readers,  // several threads use the bytes, and hardly any access writes
  writers   // several threads use and write the bytes: true sharing
};

struct Piece {
  std::uint32_t object = 0;
  std::int64_t offset = 0, bytes = 0;
  std::string field = {};  // empty: the bytes belong to no field
  Users users = Users::one;
  std::uint32_t thread = 0;                 // the only user, if `users` is one
  std::vector<std::uint32_t> threads = {};  // users, which have at least a tenth of the accesses; sorted
  std::int64_t reads = 0, writes = 0;
  bool written = false;  // more than occasionally
  std::uint64_t line = 0;
  // The slot that contains the bytes, if the use over time was examined; else empty. Threads take turns with the slots of a
  // line: over the whole run several threads use a slot, but not at a time when others use the line's other slots.
  std::string slot = {};
};

// True if separating the pieces would help: they have different users, and at least one is written. Pieces that were accessed
// only once never conflict, such as padding that is cleared with the rest.
bool conflict(const Piece& a, const Piece& b);

struct FalselySharedLine {
  std::uint64_t line = 0;
  std::vector<Piece> pieces = {};  // all pieces of the line that are used, by object and offset
  // Accesses to conflicting pieces, an upper bound of the misses that separating them would save.
  std::int64_t disturbed = 0;
  bool in_turn = false;  // true: a replay has shown that threads take turns with the pieces; see Piece::slot
};

// Returns the lines with conflicting pieces; the most conflicting accesses come first. `in_time`: lines on which a replay
// missed because of other bytes. Slots of these lines may conflict at one time, although no pieces conflict over the whole
// run.
std::vector<FalselySharedLine> falsely_shared(const std::vector<LineUsers>& lines, const trace::Symbols& symbols,
                                              const std::vector<FalseLine>& in_time = {});

// The following finds lines that threads would share falsely if objects were placed elsewhere. A block from malloc may begin
// at any multiple of 16 bytes, and many processors fetch lines in pairs.

// The offsets at which an allocator may place a block in a line of this size: 0, 16, 32, ...
std::vector<std::int64_t> heap_shifts(int line_bytes);

// A layout whose objects conflict only at other places than the recorded ones.
struct ElsewhereShared {
  std::string layout;
  FalselySharedLine line;            // the line with the most conflicting accesses
  std::vector<std::int64_t> shifts;  // the shifts of the heap at which the line is shared, in bytes
};

// Adds the layouts that conflict in `shared`, but not in `before`. `shift`: the heap's shift in `shared`, in bytes.
void add_elsewhere(std::vector<ElsewhereShared>& all, const std::vector<FalselySharedLine>& before,
                   const std::vector<FalselySharedLine>& shared, std::int64_t shift, const trace::Symbols& symbols);

// ---- element sizes of arrays whose elements belong to one thread each, derived from the bytes that each thread uses ----

// An array: an object without fields, a field that is used in pieces, or fields whose names have numbers.
struct ArrayPlace {
  std::string name;  // the array's field; empty: the whole object is the array
  std::int64_t begin = 0, size = 0;
  bool numbered = false;  // true if field names tell where elements begin; the last element may then be shorter than the others
  friend bool operator==(const ArrayPlace&, const ArrayPlace&) = default;
};

// Returns the array that contains the piece; none if it is in no array.
std::optional<ArrayPlace> array_of(const Piece& piece, const trace::Symbols& symbols);

// Returns the largest element size, in bytes, at which no thread uses a piece in another thread's element; none if no size
// below the array's does. `pieces`: all pieces of the object, by offset.
std::optional<std::int64_t> element_bytes(const ArrayPlace& array, const std::vector<Piece>& pieces);

}  // namespace linebounce::sim
