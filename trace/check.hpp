// Checks whether a trace is consistent, which checksums can't tell.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "trace/reader.hpp"
#include "trace/stream_rules.hpp"
#include "trace/supplies.hpp"

namespace linebounce::trace {

// Checks all operations in one pass. An operation takes about 10 ns beside its unpacking, one of a lock some tens.
//
// Errors: TraceError with the place of the first operation that
// - refers to an undefined symbol, has a flag that its kind does not have, or is outside its object or not naturally aligned;
// - has an argument beyond the limits of a replay (kMostCount, kMostPicoseconds);
// - acquires a lock that its stream holds (shared holds may nest), or releases one that it does not hold;
// - leaves a function that the stream has not entered, or begins or ends a handler where that is impossible;
// - creates a stream for the second time, or one that is not `created`.
//
// In an undamaged trace (Reader::damage() is empty) also TraceError if
// - a stream ends while it holds a lock;
// - a stream waits for more signals, counted writes or wake-ups than the whole trace has;
// - no operation creates a `created` stream that has operations or is joined;
// - some parties of a barrier never reach it.
// Uses all CPUs, if the trace has several streams. `each_frame`: called before each frame is read, from several threads. Once
// it has thrown, it throws each time; its exception ends the check and is passed on.
void check(const Reader& reader, const std::function<void()>& each_frame = {});

// The beginning of a stream that keeps all rules.
struct SoundPart {
  std::uint64_t operations = 0;
  Unended unended;  // locks and a handler that are still open at its end
  std::string why;  // the rule that the next operation breaks, with its place; empty if the whole stream is sound
};
// Also adds the sound part's operations to `supplies`. Errors: TraceError if the file can't be read.
SoundPart sound_part(const Reader& reader, std::uint32_t stream, Supplies& supplies,
                     const std::function<void()>& each_frame = {});

}  // namespace linebounce::trace
