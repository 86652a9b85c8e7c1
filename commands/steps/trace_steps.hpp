// `linebounce steps` of a trace.
#pragma once

#include <cstddef>

#include "commands/course/trace_files.hpp"
#include "commands/course/typed_table.hpp"
#include "commands/steps/recorded_steps.hpp"

namespace linebounce::sim {

// Runs a trace on a machine and keeps its first `most` steps. Addresses are those that the trace states, as far as it states
// physical ones. Errors: ConfigError, TraceError.
RecordedSteps trace_steps(const TraceOptions& options, const trace::Reader& reader, std::size_t most);

// The table of a trace's accesses under a protocol of an atomic bus. REQUIRES: `protocol` outlives the result. Errors:
// ConfigError, TraceError; ProtocolFault and std::logic_error if the protocol does what no correct one does.
StateTableRun trace_table(const TraceOptions& options, const trace::Reader& reader, const Protocol& protocol, std::size_t most);

}  // namespace linebounce::sim
