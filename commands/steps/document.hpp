// Writes a recorded run as one JSON document (docs/steps.md), for the teaching page and for scripts.
#pragma once

#include <string>

#include "commands/steps/recorded_steps.hpp"

namespace linebounce::sim {

// The same run gives the same bytes on every computer.
std::string steps_document(const RecordedSteps& run);

}  // namespace linebounce::sim
