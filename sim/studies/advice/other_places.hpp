// Lines that threads would share falsely if objects lay elsewhere: a block from malloc may begin at any multiple of 16 bytes,
// and many processors fetch lines in pairs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/studies/advice/byte_use.hpp"
#include "sim/studies/advice/false_sharing.hpp"

namespace linebounce::sim {

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
