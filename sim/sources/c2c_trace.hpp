// A trace that a perf c2c report's figures would come from: threads that load and store at its offsets, in its proportions.
#pragma once

#include "sim/sources/perf_c2c.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

// A thread for each of at most `most_threads` of the report's CPUs, spread over its nodes. A load of a line finds it modified
// with the same chance at every offset, so the loads have the proportions of the report's HITM. The same report gives the same
// trace. The file is not finished by it. Errors: trace::TraceError if no line has HITM; trace::WriteError.
Losses write_c2c_trace(const C2cReport& report, int most_threads, trace::Writer& out);

}  // namespace linebounce::sim
