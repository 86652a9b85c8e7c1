// Makes a trace of a table of accesses: threads that run the table's paths over a structure, pass after pass.
#pragma once

#include "sim/sources/access_table.hpp"
#include "sim/sources/import_losses.hpp"
#include "sim/sources/perf_c2c.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

struct AccessTraceOptions {
  int threads = 16;                // divided among paths for which the table states none
  std::int64_t accesses = 60'000;  // about as many in all
  std::uint64_t seed = 1;
};

// A path's thread touches the fields of its pass in a random order, which says nothing of the layout. With several objects,
// each thread of a path has its own share of them, and takes them in a random order. Touched fields that the layout lacks are
// left out and counted. The caller must finish the file. Errors: trace::TraceError if no field is touched.
Losses write_access_trace(const AccessTable& table, const workloads::Layout& layout, const AccessTraceOptions& options,
                          trace::Writer& out);

// The table that a report of perf c2c amounts to if an object of the structure begins at `address`: each function is a path, on
// the CPUs that the report names. Errors: trace::TraceError if the report has no samples of the object.
AccessTable table_of_c2c(const C2cReport& report, const workloads::Layout& layout, std::uint64_t address);

}  // namespace linebounce::sim
