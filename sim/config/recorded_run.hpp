// What a replay reads in its trace beside operations: the run that was recorded, and the structures of its objects.
#pragma once

#include <toml++/toml.h>

#include <string>

#include "sim/config/layout_file.hpp"
#include "trace/summary.hpp"

namespace linebounce::sim {

// Its configuration as trace record has kept it; empty: the trace is of no simulated run. Errors: ConfigError if it is no TOML.
toml::table recorded_configuration(const trace::Summary& summary);

// Whether a replay with this configuration is the recorded run over again: the same machine, measured time, and locks, with
// threads and objects where they were.
bool replays_as_recorded(const toml::table& resolved, const trace::Summary& summary);

// The setting with the file that workload `replay` replays.
inline constexpr const char* kTraceKey = "workload.trace";

// As if a layout file had the trace's structures. An object without structure is one of its own, without fields. `line_bytes`:
// of the machine. Errors: trace::TraceError.
LayoutFile load_trace_layouts(const std::string& trace, int line_bytes);

}  // namespace linebounce::sim
