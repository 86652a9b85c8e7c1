// Reads from a trace what a replay needs besides the operations: the configuration of the recorded run, and the objects'
// structures.
#pragma once

#include <toml++/toml.h>

#include <string>

#include "sim/config/layout_file.hpp"
#include "trace/reader.hpp"
#include "trace/summary.hpp"

namespace linebounce::sim {

// Returns the configuration of the run that was recorded; empty if the trace does not come from a simulated run. Errors:
// ConfigError if it is not TOML.
toml::table recorded_configuration(const trace::Summary& summary);

// True if a replay with this configuration repeats the recorded run exactly. It needs the same machine, run times and locks,
// and must leave threads and objects where they were.
bool replays_as_recorded(const toml::table& resolved, const trace::Summary& summary);

// The setting that names the trace file of the workload `replay`.
inline constexpr const char* kTraceKey = "workload.trace";

// What a replay of this trace assumes, in a sentence; empty if it assumes nothing.
std::string assumption_about(const trace::Reader& trace);

// Returns the trace's structures as a layout file. An object without a structure gets one without fields. `line_bytes`: the
// machine's coherence line size. Errors: trace::TraceError.
LayoutFile load_trace_layouts(const std::string& trace, int line_bytes);

}  // namespace linebounce::sim
