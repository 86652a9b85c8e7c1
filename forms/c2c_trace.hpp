// Makes a trace that would produce the counts of a perf c2c report. Threads load and store at the offsets in the report, in
// its proportions.
#pragma once

#include "forms/perf_c2c.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

// Writes one thread for each CPU of the report, at most `most_threads`, which are then chosen at equal distances among the
// CPU numbers. A load finds its line modified with equal probability at every offset, so HITM counts of a replay have the
// report's proportions. The same report gives the same trace. The caller must finish the file. Errors: trace::TraceError if
// no line has HITM counts; trace::WriteError.
Losses write_c2c_trace(const C2cReport& report, int most_threads, trace::Writer& out);

}  // namespace linebounce::sim
