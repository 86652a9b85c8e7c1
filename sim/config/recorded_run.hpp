// What a replay reads from a trace besides its operations: the configuration of the recorded run, and the structures of
// objects.
#pragma once

#include <toml++/toml.h>

#include <string>

#include "sim/config/layout_file.hpp"
#include "trace/summary.hpp"

namespace linebounce::sim {

// The run's configuration, as `trace record` saved it; empty if the trace does not come from a simulated run. Errors:
// ConfigError if it is not TOML.
toml::table recorded_configuration(const trace::Summary& summary);

// True if a replay with this configuration repeats the recorded run: the same machine, measured time and locks, and the same
// places of threads and objects.
bool replays_as_recorded(const toml::table& resolved, const trace::Summary& summary);

// The setting that names the file for workload `replay`.
inline constexpr const char* kTraceKey = "workload.trace";

// The trace's structures, in the form of a layout file. An object without a structure becomes a structure without fields.
// `line_bytes`: the machine's. Errors: trace::TraceError.
LayoutFile load_trace_layouts(const std::string& trace, int line_bytes);

}  // namespace linebounce::sim
