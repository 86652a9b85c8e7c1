// Lines on which threads get into each other's way although they use different bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/studies/advice/byte_use.hpp"
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
  std::uint32_t thread = 0;  // whose it is, if it is one's
  std::int64_t reads = 0, writes = 0;
  bool written = false;  // more than once in a while
  std::uint64_t line = 0;
};

// Whether moving the two apart would help somebody: others use them, and one of them is written. What is touched a single time,
// as padding by who clears all of it, disturbs nobody.
bool conflict(const Piece& a, const Piece& b);

struct FalselySharedLine {
  std::uint64_t line = 0;
  std::vector<Piece> pieces;   // all that are used, by object and offset
  std::int64_t disturbed = 0;  // accesses to pieces that are in conflict with another one: at most so many misses
};

// Those of the lines that hold pieces in conflict, the one with most accesses to them first.
std::vector<FalselySharedLine> falsely_shared(const std::vector<LineUsers>& lines, const trace::Symbols& symbols);

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

}  // namespace linebounce::sim
