// Whether a trace makes sense: what no frame's checksum can tell.
#pragma once

#include "trace/reader.hpp"

namespace linebounce::trace {

// One pass over all operations, a few ns each. Errors: TraceError with the place of the first that
// - names what is not defined, has a flag that its kind does not know, lies outside its object or not naturally aligned;
// - takes again what its stream holds (shared holds may nest), releases what it does not hold, leaves a function that it has
// not
//   entered, begins or ends a handler where none can, creates a stream twice or one that is not `created`;
// and, of a trace that is whole (Reader::damage() is empty), of the last that
// - leaves its stream holding a lock;
// - waits for more signals, counted writes or wake-ups than the whole trace has, joins or leaves uncreated a stream that no
//   operation creates, comes to a barrier that not all of its parties reach.
void check(const Reader& reader);

// For `recover`: each stream ends before its first operation that check() refuses, or that waits for what the rest of the trace
// never has; there it gives back what it holds. Reader::damage() has the places. A few passes over all operations.
void keep_what_makes_sense(Reader& reader);

}  // namespace linebounce::trace
