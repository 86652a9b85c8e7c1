// Checks whether a trace is consistent, which checksums can't tell.
#pragma once

#include <cstdint>
#include <string>

#include "trace/reader.hpp"
#include "trace/stream_rules.hpp"
#include "trace/supplies.hpp"

namespace linebounce::trace {

// One pass over all operations, a few ns each, of locks some tens. Errors: TraceError with the place of the first that
// - names what is not defined, has a flag that its kind does not know, lies outside its object or not naturally aligned;
// - has an argument that no replay can count (kMostCount, kMostPicoseconds);
// - takes again what its stream holds (shared holds may nest), releases what it does not hold, leaves a function that it has
//   not entered, begins or ends a handler where none can, creates a stream twice or one that is not `created`;
// and, of a trace that is whole (Reader::damage() is empty), of the last that
// - leaves its stream holding a lock;
// - waits for more signals, counted writes or wake-ups than the whole trace has, joins or leaves uncreated a stream that no
//   operation creates, comes to a barrier that not all of its parties reach.
void check(const Reader& reader);

// The beginning of a stream that keeps all rules.
struct SoundPart {
  std::uint64_t operations = 0;
  Unended unended;  // locks and a handler that are still open at its end
  std::string why;  // the rule that the next operation breaks, with its place; empty if the whole stream is sound
};
// Also adds the sound part's operations to `supplies`. Errors: TraceError if the file can't be read.
SoundPart sound_part(const Reader& reader, std::uint32_t stream, Supplies& supplies);

}  // namespace linebounce::trace
