// `linebounce steps` of a trace, and of accesses that are typed on the command line.
#pragma once

#include <cstdint>
#include <string>

#include "commands/course/trace_files.hpp"
#include "commands/steps/recorded_steps.hpp"

namespace linebounce::sim {

// Runs a trace on a machine and keeps its first `most` steps. Addresses are those that the trace states, as far as it states
// physical ones. Errors: ConfigError, TraceError.
RecordedSteps trace_steps(const TraceOptions& options, const trace::Reader& reader, std::size_t most);

enum class TableFormat : std::uint8_t { text, markdown, csv };

struct StateTableRun {
  std::string table;
  bool cut = false;  // there were more accesses than `most`
};

// The table of a trace's, or of typed accesses, under a protocol of an atomic bus. Errors: ConfigError, TraceError;
// ProtocolFault and std::logic_error if the protocol does what no correct one does.
StateTableRun trace_table(const TraceOptions& options, const trace::Reader& reader, const Protocol& protocol,
                          TableFormat format, std::size_t most);
StateTableRun typed_table(const TraceOptions& options, const std::string& accesses, const Protocol& protocol,
                          TableFormat format, std::size_t most);

}  // namespace linebounce::sim
