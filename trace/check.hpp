// Whether a trace makes sense: what no chunk's checksum can tell.
#pragma once

#include "trace/reader.hpp"

namespace linebounce::trace {

// One pass over all operations. Errors: TraceError with the place of the first that names what is not defined or lies outside
// its object, releases what its stream does not hold, takes again what it holds, ends holding a lock (all such with `recover`
// off only), waits for more signals, writes or wake-ups than there are, creates a stream twice, leaves a function that it did
// not enter.
void check(const Reader& reader);

}  // namespace linebounce::trace
