// Recovers the usable part of a damaged trace.
#pragma once

#include "trace/reader.hpp"

namespace linebounce::trace {

// For `recover`: each stream ends before its first operation that check() refuses, or that waits for something the rest of the
// trace never does; there it releases what it holds, and ends its handler. A stream whose `create` is lost begins with the
// trace. The rest can be replayed. Reader::damage() has the places. Two passes over all operations, the second over all streams
// at once. Errors: TraceError.
void keep_what_makes_sense(Reader& reader);

}  // namespace linebounce::trace
