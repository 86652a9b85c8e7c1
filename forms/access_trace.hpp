// Makes a trace whose threads run the code paths of an access table over a structure, again and again.
#pragma once

#include "forms/access_table.hpp"
#include "forms/import_losses.hpp"
#include "forms/perf_c2c.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

struct AccessTraceOptions {
  // Number of threads. Paths for which the table states no number share those that the other paths leave.
  int threads = 16;
  std::int64_t accesses = 60'000;  // approximate total
  std::uint64_t seed = 1;
};

// Writes the trace, but does not finish the file. A thread touches the fields of a pass in random order, because the table
// states no order. Several objects are divided among the threads of a path; each thread visits its own in random order.
// Touched fields that the layout lacks are left out and counted. Errors: trace::TraceError if no field is touched.
Losses write_access_trace(const AccessTable& table, const workloads::Layout& layout, const AccessTraceOptions& options,
                          trace::Writer& out);

// Converts a report of perf c2c into a table for one structure. `address`: where an object of the structure begins. Each
// function becomes a path, with as many threads as CPUs in the report. Errors: trace::TraceError if the report has no samples
// of the object.
AccessTable table_of_c2c(const C2cReport& report, const workloads::Layout& layout, std::uint64_t address);

}  // namespace linebounce::sim
