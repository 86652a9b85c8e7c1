// The structures of a trace, for [[layout.change]].
#pragma once

#include <string>

#include "sim/config/layout_file.hpp"

namespace linebounce::sim {

// The setting with the file that workload `replay` replays.
inline constexpr const char* kTraceKey = "workload.trace";

// As if a layout file had the trace's structures. An object without structure is one of its own, without fields. `line_bytes`:
// of the machine. Errors: trace::TraceError.
LayoutFile load_trace_layouts(const std::string& trace, int line_bytes);

}  // namespace linebounce::sim
