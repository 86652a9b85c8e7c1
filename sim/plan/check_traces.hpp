// Traces that a plan replays make sense, or it does not begin.
#pragma once

#include "sim/plan/plan.hpp"

namespace linebounce::sim {

// Reads each trace once. With workload.recover one only must have operations: what of it can be used is replayed.
// Errors: trace::TraceError.
void check_traces(const Plan& plan);

}  // namespace linebounce::sim
