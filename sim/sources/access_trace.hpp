// Makes a trace from a table of accesses. Its threads run the table's code paths over a structure, pass after pass.
#pragma once

#include "sim/sources/access_table.hpp"
#include "sim/sources/import_losses.hpp"
#include "sim/sources/perf_c2c.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

struct AccessTraceOptions {
  int threads = 16;                // shared among paths for which the table states no number
  std::int64_t accesses = 60'000;  // approximate total
  std::uint64_t seed = 1;
};

// Each thread of a path touches the fields of a pass in random order, because the table does not state their order. If there
// are several objects, they are divided among the threads of a path, and each thread visits its share in random order.
// Touched fields that the layout lacks are left out and counted. The caller must finish the file. Errors: trace::TraceError
// if no field is touched.
Losses write_access_trace(const AccessTable& table, const workloads::Layout& layout, const AccessTraceOptions& options,
                          trace::Writer& out);

// Converts a report of perf c2c into a table, assuming that an object of the structure begins at `address`. Each function
// becomes a path, on the CPUs that the report names. Errors: trace::TraceError if the report has no samples of the object.
AccessTable table_of_c2c(const C2cReport& report, const workloads::Layout& layout, std::uint64_t address);

}  // namespace linebounce::sim
