// A recorded run as one JSON document (docs/steps.md): for the teaching page, and for whoever wants every step of a run.
#pragma once

#include <string>

#include "sim/steps/recorded_steps.hpp"

namespace linebounce::sim {

// The same bytes for the same run, wherever it was recorded.
std::string steps_document(const RecordedSteps& run);

}  // namespace linebounce::sim
