// Describes each step of a run in a sentence, as a lecturer would, for captions, screen readers and terminals.
#pragma once

#include <string>
#include <vector>

#include "commands/steps/recorded_steps.hpp"

namespace linebounce::sim {

// One sentence for each step, in order. They name words and objects instead of addresses, and use the textbook's words for
// states.
std::vector<std::string> sentences(const RecordedSteps& run);

}  // namespace linebounce::sim
