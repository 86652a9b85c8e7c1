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

// How threads use some bytes. A thread with less than a tenth of all accesses is ignored: it may only set the bytes up, or add
// them up at the end.
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
  std::uint32_t thread = 0;                 // the user, if there is only one
  std::vector<std::uint32_t> threads = {};  // threads with at least a tenth of the accesses, in order
  std::int64_t reads = 0, writes = 0;
  bool written = false;  // more than occasionally
  std::uint64_t line = 0;
  // The slot in a line whose slots, or members, threads use in turn: over the whole run each slot has several users, but not
  // while another slot is in use. Empty: not judged over time.
  std::string slot = {};
};

// Whether separating the two would help: they have different users, and one of them is written. Bytes that are accessed only
// once, such as padding that a thread clears with the rest, disturb nobody.
bool conflict(const Piece& a, const Piece& b);

struct FalselySharedLine {
  std::uint64_t line = 0;
  std::vector<Piece> pieces = {};  // all used pieces, by object and offset
  std::int64_t disturbed = 0;      // accesses to conflicting pieces: an upper bound of the misses
  bool in_turn = false;            // a replay has shown that the pieces are used at different times: see Piece::slot
};

// The lines with conflicting pieces, those with most accesses to them first. `in_time`: lines on which a replay missed because
// of other bytes, by address; they may have conflicts between slots even without one over the whole run.
std::vector<FalselySharedLine> falsely_shared(const std::vector<LineUsers>& lines, const trace::Symbols& symbols,
                                              const std::vector<FalseLine>& in_time = {});

// Lines that threads would share falsely if objects lay elsewhere: a block from malloc may begin at any multiple of 16 bytes,
// and many processors fetch lines in pairs.

// An allocator's offsets for a block in a line of this size: 0, 16, 32, ...
std::vector<std::int64_t> heap_shifts(int line_bytes);

// A layout whose objects conflict at other places, but not at the recorded ones.
struct ElsewhereShared {
  std::string layout;
  FalselySharedLine line;            // the line with most conflicting accesses
  std::vector<std::int64_t> shifts;  // shifts of the heap, in bytes, at which it is shared
};

// Adds lines of `shared` that `before` lacks; `shift`: the heap's shift in `shared`.
void add_elsewhere(std::vector<ElsewhereShared>& all, const std::vector<FalselySharedLine>& before,
                   const std::vector<FalselySharedLine>& shared, std::int64_t shift, const trace::Symbols& symbols);

// ---- the sizes of array elements that threads use as their own, derived from the bytes that each uses ----

// An object without fields, a field that is used in pieces, or fields whose names are numbered.
struct ArrayPlace {
  std::string name;  // the array's field; empty: the whole object
  std::int64_t begin = 0, size = 0;
  bool numbered = false;  // whether its fields' names show where elements begin; the last element may be cut short
  friend bool operator==(const ArrayPlace&, const ArrayPlace&) = default;
};

// The array that a piece belongs to, if any.
std::optional<ArrayPlace> array_of(const Piece& piece, const trace::Symbols& symbols);

// The largest element size at which no thread finds another's pieces in its own element; none if there is no such size below
// the array's. `pieces`: the object's, by offset.
std::optional<std::int64_t> element_bytes(const ArrayPlace& array, const std::vector<Piece>& pieces);

}  // namespace linebounce::sim
