// Makes a trace that would produce the counts of a perf c2c report. Threads load and store at the report's offsets, in its
// proportions.
#pragma once

#include "sim/sources/perf_c2c.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

// Writes one thread for each of the report's CPUs, at most `most_threads`, spread over its nodes. A load finds its line
// modified with the same probability at every offset, so loads keep the proportions of the report's HITM counts. The same
// report gives the same trace. The caller must finish the file. Errors: trace::TraceError if no line has HITM counts;
// trace::WriteError.
Losses write_c2c_trace(const C2cReport& report, int most_threads, trace::Writer& out);

}  // namespace linebounce::sim
