// What a damaged trace still is good for.
#pragma once

#include "trace/reader.hpp"

namespace linebounce::trace {

// For `recover`: each stream ends before its first operation that check() refuses, or that waits for what the rest of the trace
// never has; there it gives back what it holds. Reader::damage() has the places. A few passes over all operations.
void keep_what_makes_sense(Reader& reader);

}  // namespace linebounce::trace
