// Finds lines on which threads disturb each other although they use different bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/studies/advice/byte_use.hpp"
#include "sim/studies/advice/time_account.hpp"
#include "trace/symbols.hpp"

namespace linebounce::sim {

// How threads use some bytes. A thread with less than a tenth of the accesses is ignored, because it may only initialise the
// bytes, or add them up at the end.
enum class Users : std::uint8_t {
  one,      // only one thread uses them
  readers,  // several threads use them, and hardly ever write
  writers   // several threads use and write them: true sharing
};

struct Piece {
  std::uint32_t object = 0;
  std::int64_t offset = 0, bytes = 0;
  std::string field = {};  // empty: no field has these bytes
  Users users = Users::one;
  std::uint32_t thread = 0;                 // the thread, if only one uses the bytes
  std::vector<std::uint32_t> threads = {};  // threads with at least a tenth of the accesses, sorted
  std::int64_t reads = 0, writes = 0;
  bool written = false;  // more than occasionally
  std::uint64_t line = 0;
  // The slot of these bytes, if threads use the line's slots, or members, in turn: over the whole run each slot has several
  // users, but no other slot is in use at the same time. Empty if the use over time was not examined.
  std::string slot = {};
};

// True if separating the two would help: they have different users, and one of them is written. Bytes that are accessed only
// once disturb no thread, such as padding that is cleared together with the rest.
bool conflict(const Piece& a, const Piece& b);

struct FalselySharedLine {
  std::uint64_t line = 0;
  std::vector<Piece> pieces = {};  // all used pieces, by object and offset
  std::int64_t disturbed = 0;      // accesses to conflicting pieces: an upper bound of the misses
  bool in_turn = false;            // a replay has shown that the pieces are used at different times; see Piece::slot
};

// The lines with conflicting pieces, those with the most accesses to such pieces first. `in_time`: addresses of lines on
// which a replay missed because of other bytes. Their slots may conflict at one time although there is no conflict over the
// whole run.
std::vector<FalselySharedLine> falsely_shared(const std::vector<LineUsers>& lines, const trace::Symbols& symbols,
                                              const std::vector<FalseLine>& in_time = {});

// Lines that threads would share falsely if objects were placed differently. A block from malloc may begin at any multiple of
// 16 bytes, and many processors fetch lines in pairs.

// The offsets in a line of this size at which an allocator may place a block: 0, 16, 32, ...
std::vector<std::int64_t> heap_shifts(int line_bytes);

// A layout whose objects conflict at other places than the recorded ones.
struct ElsewhereShared {
  std::string layout;
  FalselySharedLine line;            // the line with most conflicting accesses
  std::vector<std::int64_t> shifts;  // shifts of the heap, in bytes, at which it is shared
};

// Adds lines of `shared` that `before` lacks; `shift`: the heap's shift in `shared`.
void add_elsewhere(std::vector<ElsewhereShared>& all, const std::vector<FalselySharedLine>& before,
                   const std::vector<FalselySharedLine>& shared, std::int64_t shift, const trace::Symbols& symbols);

// ---- sizes of the array elements that threads use as their own, derived from the bytes that each thread uses ----

// An object without fields, a field that is used in pieces, or fields whose names are numbered.
struct ArrayPlace {
  std::string name;  // the array's field; empty: the whole object
  std::int64_t begin = 0, size = 0;
  bool numbered = false;  // true if its field names show where elements begin; the last element may be cut short
  friend bool operator==(const ArrayPlace&, const ArrayPlace&) = default;
};

// The array that a piece belongs to, if any.
std::optional<ArrayPlace> array_of(const Piece& piece, const trace::Symbols& symbols);

// The largest element size at which no thread uses a piece in another thread's element; none if there is no such size below
// the array's. `pieces`: the object's, by offset.
std::optional<std::int64_t> element_bytes(const ArrayPlace& array, const std::vector<Piece>& pieces);

}  // namespace linebounce::sim
