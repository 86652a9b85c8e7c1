// What a damaged trace still is good for.
#pragma once

#include "trace/reader.hpp"

namespace linebounce::trace {

// For `recover`: each stream ends before its first operation that check() refuses, or that waits for what the rest of the trace
// never does; there it gives back what it holds. A stream whose `create` is lost begins with the trace. What is left can be
// replayed. Reader::damage() has the places. A few passes over all operations, the last of all streams at once. Errors:
// TraceError.
void keep_what_makes_sense(Reader& reader);

}  // namespace linebounce::trace
