// Recovers what is usable of a damaged trace.
#pragma once

#include "trace/reader.hpp"

namespace linebounce::trace {

// For `recover`: makes the rest of the trace replayable. A stream ends before the first operation that check() refuses, or that
// waits for something the trace never does; there it releases its locks and ends its handler. A stream whose `create` is lost
// begins with the trace. Reader::damage() lists the places. Reads all operations twice, the second time all streams at once.
// Errors: TraceError.
void keep_what_makes_sense(Reader& reader);

}  // namespace linebounce::trace
