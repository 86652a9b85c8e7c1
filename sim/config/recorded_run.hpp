// The run that a trace was recorded from, for a replay to be held against.
#pragma once

#include <toml++/toml.h>

#include "trace/summary.hpp"

namespace linebounce::sim {

// Its configuration as trace record has kept it; empty: the trace is of no simulated run. Errors: ConfigError if it is no TOML.
toml::table recorded_configuration(const trace::Summary& summary);

// Whether a replay with this configuration is the recorded run over again: the same machine, measured time, and locks, with
// threads and objects where they were.
bool replays_as_recorded(const toml::table& resolved, const trace::Summary& summary);

}  // namespace linebounce::sim
